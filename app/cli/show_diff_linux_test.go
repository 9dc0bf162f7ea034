package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// On a terminal a diff goes through the pager that the user has for git, in colour,
// and never through one that the repository names: an agent could have written that.
// execution §5 (Approval)
func TestADiffGoesThroughThePagerOfTheUser(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", executortest.Epic([]string{"1.1"}, func(e *ir.Epic) {
		e.Gates["ann"] = ir.Gate{Kind: "human", From: "policy", Approvers: []string{"ann"}, OnFailure: "retry"}
		e.Nodes[0].Steps[0].Gates = append(e.Nodes[0].Steps[0].Gates, "ann")
	}))
	s.apply(exit.Waiting)
	planted := filepath.Join(s.top, "planted")
	s.git("config", "core.pager", "touch "+planted)
	s.write("../home/.gitconfig", "[core]\n\tpager = sed 's/^/paged: /'\n")
	x := newTerminal(t, 100, 60)
	if got := x.run(s, "show", "1.1", "--diff").wait(); got.code != exit.Done {
		t.Fatal(got.code)
	}
	s.until("all of it is drawn", func() bool { text, _ := x.screen(); return strings.Contains(text, "ralph reject 1.1") })
	text, _ := x.screen()
	for _, want := range []string{"paged: status:   waiting: approval", "paged: diff --git a/out-1.1.txt", "paged: +1.1", "paged:   ralph approve 1.1 --as ann"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if !strings.Contains(x.raw.String(), "\x1b[32m+1.1") {
		t.Errorf("what was added is not coloured: %q", x.raw.String())
	}
	if _, err := os.Stat(planted); err == nil {
		t.Error("the repository's pager was started")
	}
}

// Whose pager is used is decided as git does it.
func TestThePagerIsChosenAsGitDoesIt(t *testing.T) {
	s := newSite(t, "", executortest.Epic([]string{"1.1"}))
	r, err := record.Open(t.Context(), filepath.Join(s.dir, "epic.json"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", filepath.Join(s.top, "home"))
	t.Setenv("XDG_CONFIG_HOME", "")
	for _, c := range []struct{ name, gitPager, config, pager, want string }{
		{"nothing is said", "-", "", "-", "less"},
		{"PAGER", "-", "", "more", "more"},
		{"core.pager comes before PAGER", "-", "delta", "more", "delta"},
		{"GIT_PAGER comes before all", "most -s", "delta", "more", "most -s"},
		{"an empty one is none", "", "delta", "more", ""},
		{"cat is none", "-", "", "cat", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for name, value := range map[string]string{"GIT_PAGER": c.gitPager, "PAGER": c.pager} {
				t.Setenv(name, value)
				if value == "-" {
					_ = os.Unsetenv(name) // Setenv puts it back
				}
			}
			s.write("../home/.gitconfig", "[user]\n\tname = x\n")
			if c.config != "" {
				s.write("../home/.gitconfig", "[core]\n\tpager = "+c.config+"\n")
			}
			if got, err := view.PagerOf(t.Context(), r.Space); err != nil || got != c.want {
				t.Errorf("%q, %v; want %q", got, err, c.want)
			}
		})
	}
}
