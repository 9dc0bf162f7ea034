//go:build unix

package web

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
)

func TestAReportHasABound(t *testing.T) {
	t.Parallel()
	lines := []string{"0"}
	for i := range 300 {
		lines = append(lines, fmt.Sprintf("1.%d: 0", i+1))
	}
	s := newSite(t, "true\n", executortest.Epic(lines))
	r, err := record.OpenIn(t.Context(), s.dir, filepath.Join(s.dir, "epic.json"), nil)
	if err != nil {
		t.Fatal(err)
	}
	whole, omitted, err := Report(t.Context(), r, With{}, MostReport)
	if err != nil || len(omitted) > 0 {
		t.Fatalf("%v, %q is left out", err, omitted)
	}
	for i := range 2 * inPage {
		r.Events = append(r.Events, executor.Event{Seq: int64(i + 1), At: r.Now, Node: r.Epic.Nodes[0].ID, Body: executor.HumanSpoke{Text: "more"}})
	}
	if _, omitted, err = Report(t.Context(), r, With{}, MostReport); err != nil || !slices.Contains(omitted, "all but the last 100 events of a sprint") {
		t.Errorf("%v; what is left out of a long journal: %q", err, omitted)
	}
	r, err = record.OpenIn(t.Context(), s.dir, filepath.Join(s.dir, "epic.json"), nil) // savedOf has seen the events
	if err != nil {
		t.Fatal(err)
	}
	most := len(whole) - 20_000
	page, omitted, err := Report(t.Context(), r, With{Logs: true}, most)
	if err != nil {
		t.Fatal(err)
	}
	if len(page) > most || len(page) < most-perPart {
		t.Errorf("%d bytes, of at most %d", len(page), most)
	}
	said := strings.Join(omitted, "\n")
	if !strings.Contains(said, "the details of ") || !strings.Contains(string(page), "the details of ") {
		t.Errorf("what is left out: %s", said)
	}
	if _, _, err := Report(t.Context(), r, With{}, len(whole)/2); err == nil || !strings.Contains(err.Error(), "too large for a report of 10 MB") {
		t.Errorf("what has no room at all: %v", err)
	}
}

func TestPathsBeginAtTheRepository(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`"cd /home/ada/shop/x"`:       `"cd ./x"`,
		`/home/ada/shop`:              `.`,
		`/home/ada/shopping/x`:        `/home/ada/shopping/x`,
		`in /home/ada/shop.`:          `in ..`,
		`(/home/ada/shop/.git/ralph)`: `(./.git/ralph)`,
		`a/home/ada/shop`:             `a/home/ada/shop`,
		`panic\n/home/ada/shop/x.go`:  `panic\n./x.go`,
		`\u003c/home/ada/shop/x.go`:   `\u003c./x.go`,
		"line\n\t/home/ada/shop/x.go": "line\n\t./x.go",
	} {
		if got := cutRoot(in, "/home/ada/shop", "."); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
	short := shorter(record.Repository{Dir: "/srv/my shop", Git: "/srv/my shop/.git"})
	for in, want := range map[string]string{
		"/srv/my shop/.git/ralph":            ".git/ralph",
		"file:///srv/my%20shop/x":            "file://./x",
		"/srv/my shop-worktrees/x":           "../my shop-worktrees/x",
		"at /home/carol/go/pkg/c.go:3":       "at ~/go/pkg/c.go:3",
		"/Users/carol and C:\\Users\\bob\\x": "~ and ~\\x",
		"/root/go":                           "~/go",
	} {
		if got := short(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestNamesOfFieldsAreNoTexts(t *testing.T) {
	t.Parallel()
	change := func(s string) string { return strings.ReplaceAll(s, "failures", "[secret KEY]") }
	got := string(inJSON([]byte(`{"failures":["failures",{"a\"failures":1}],"x":"say \"failures\"\n","n":12}`), change))
	if want := `{"failures":["[secret KEY]",{"a\"failures":1}],"x":"say \"[secret KEY]\"\n","n":12}`; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestPartsOfPathsAreEscapedAsThePageDoes(t *testing.T) {
	t.Parallel()
	if got := component("a b/!'()*@:&=+$,é"); got != "a%20b%2F!'()*%40%3A%26%3D%2B%24%2C%C3%A9" {
		t.Error(got)
	}
}
