package cli

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// otherwise is what differs between two runs that print the same: times, processes,
// commits, how long something took.
var otherwise = []struct {
	form *regexp.Regexp
	text string
}{
	{regexp.MustCompile(`\b\d\d\d\d-\d\d-\d\d \d\d:\d\d:\d\d\b`), "DATE"},
	{regexp.MustCompile(`\b\d\d:\d\d:\d\d\b`), "TIME"},
	{regexp.MustCompile(`\bprocess \d+ of \S+,`), "process N of ann,"},
	{regexp.MustCompile(`\bcommit [0-9a-f]{12}\b`), "commit C"},
	{regexp.MustCompile(`\b(\d+s|\d+m\d\ds|\d+h\d\dm|\d+\.\d+s)\b`), "D"},
}

// docShows holds the fence of a document whose info string is info to what a program
// printed; -update rewrites it if it differs in more than what is otherwise each time.
func docShows(t *testing.T, doc, info, got string) {
	t.Helper()
	b, err := os.ReadFile(doc)
	if err != nil {
		t.Fatal(err)
	}
	same := func(s string) string {
		for _, o := range otherwise {
			s = o.form.ReplaceAllString(s, o.text)
		}
		return s
	}
	for _, f := range docFences(string(b)) {
		switch {
		case f.info != info:
		case same(f.text) == same(got):
			return
		case *update:
			if err := os.WriteFile(doc, []byte(strings.Replace(string(b), "```"+info+"\n"+f.text, "```"+info+"\n"+got, 1)), 0o644); err != nil {
				t.Fatal(err)
			}
			return
		default:
			t.Errorf("%s shows at %q\n%s\nit is (-update writes it)\n%s", doc, info, f.text, got)
			return
		}
	}
	t.Errorf("%s has no fence %q", doc, info)
}
