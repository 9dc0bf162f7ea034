package executor

import "testing"

func TestAPullRequestIsCalledAsItsForgeDoes(t *testing.T) { // S2-71
	for url, want := range map[string]string{
		"https://github.com/a/b/pull/7":                "pull request #7",
		"https://gitlab.com/a/c/b/-/merge_requests/7":  "merge request !7",
		"https://git.example/gitlab/merge_requests.io": "pull request #7",
		"": "pull request #7",
	} {
		p := Pull{Number: 7, URL: url}
		if got := p.Name(); got != want {
			t.Errorf("%s: %s, want %s", url, got, want)
		}
	}
	if got := (Pull{URL: "https://gitlab.com/a/b/-/merge_requests/new"}).Name(); got != "merge request" {
		t.Errorf("one without a number: %s", got)
	}
}
