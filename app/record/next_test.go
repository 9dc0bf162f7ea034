package record

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
)

// Another's name is proposed only to who is no approver, and only if those who are have
// no other way.
func TestWhoIsToldToDecideAsAnother(t *testing.T) { // execution §5 "Approvers are matched against --as"
	for name, c := range map[string]struct {
		who       Asker
		approvers []string
		as, only  string
	}{
		"anybody may":                        {Asker{user: "ann"}, nil, "", ""},
		"by the user name":                   {Asker{user: "ann", names: []string{"Ann Lee", "ann@example.org"}}, []string{"bob", "@Ann"}, "", ""},
		"by the name that git has":           {Asker{user: "root", names: []string{"Ann Lee", "ann@example.org"}}, []string{"ann@example.org"}, "ann@example.org", ""},
		"others, who have no account here":   {Asker{user: "ann"}, []string{"@no-such-user-1", "no-such-user-2"}, "no-such-user-1", " (only no-such-user-1 or no-such-user-2 may)"},
		"others, who can do it in bd":        {Asker{user: "ann", labels: true}, []string{"no-such-user-1"}, "", " (only no-such-user-1 may)"},
		"another, who has an account of own": {Asker{user: "no-such-user-1"}, []string{"root"}, "", " (only root may)"},
	} {
		if as, only := c.who.as(c.approvers); as != c.as || only != c.only {
			t.Errorf("%s: %q, %q; want %q, %q", name, as, only, c.as, c.only)
		}
	}
}

// A step that asks may have no gates: an explorer of a draft has none.
func TestAQuestionIsNotSaidToGoToGates(t *testing.T) {
	v := machine.NodeView{Key: "1", Status: executor.Waiting, For: executor.ForHuman, Cause: executor.CauseQuestion, Ways: []machine.Way{
		{Verb: executor.RetryNode, Key: "1", Message: true}, {Verb: executor.Approve, Key: "1"},
	}}
	if got := NextSteps(v, "", Asker{})[1].What; got != "continue as it is, to its gates if it has any" {
		t.Error(got)
	}
}

// What is proposed is what the machine would take: a command that says something to
// the run has its way, and without that way it is not proposed.
func TestAProposedCommandIsAWayThatIsOpen(t *testing.T) {
	v := machine.NodeView{Key: "1.1", Status: executor.Waiting, For: executor.ForHuman, Cause: executor.CauseGate, Ways: []machine.Way{
		{Verb: executor.RetryNode, Key: "1.1"}, {Verb: executor.Approve, How: executor.Override, Key: "1.1", Message: true},
	}}
	var got []string
	for _, s := range NextSteps(v, "", Asker{about: " --epic x.json"}) {
		got = append(got, s.Command)
		if way := s.Way; (way == nil) != strings.HasPrefix(s.Command, "ralph show ") || way != nil && (way.Key != "1.1" || way.Message != strings.Contains(s.Command, " -m ")) {
			t.Errorf("%s is the way %+v", s.Command, way)
		}
	}
	want := []string{"ralph show 1.1 --diff --epic x.json", "ralph retry 1.1 --epic x.json", `ralph approve 1.1 --override -m "why" --epic x.json`}
	if !slices.Equal(got, want) { // without reject: the machine would refuse it
		t.Errorf("proposed are\n%q, want\n%q", got, want)
	}
}

// A person is led to a worktree by ralph enter where its agent was confined the last time,
// and else by cd.
func TestAWorktreeIsLookedAtWhereItsAgentWas(t *testing.T) {
	in := func(kind string) *executor.Sandboxed { return &executor.Sandboxed{Name: "default", Kind: kind} }
	gates := func(s *executor.Sandboxed) machine.AttemptLog {
		return machine.AttemptLog{Gates: []executor.GateJudged{{Gate: "check", Sandbox: s}}}
	}
	for name, c := range map[string]struct {
		attempts []machine.AttemptLog
		want     string
	}{
		"no attempt":                       {nil, "cd /w"},
		"an agent in a sandbox":            {[]machine.AttemptLog{{Turns: 1, Sandbox: in("bwrap")}}, "ralph enter 1.1 --epic x.json"},
		"a turn that was cut":              {[]machine.AttemptLog{{Sandbox: in("bwrap")}}, "ralph enter 1.1 --epic x.json"},
		"an agent in none":                 {[]machine.AttemptLog{{Turns: 1}}, "cd /w"},
		"with --sandbox none":              {[]machine.AttemptLog{{Turns: 1, Sandbox: in("bwrap")}, {Turns: 1, Sandbox: in("none")}}, "cd /w"},
		"judged anew":                      {[]machine.AttemptLog{{Turns: 1, Sandbox: in("landlock")}, gates(in("landlock"))}, "ralph enter 1.1 --epic x.json"},
		"judged anew, of an agent in none": {[]machine.AttemptLog{{Turns: 1}, gates(in("bwrap"))}, "cd /w"},
		"only gates":                       {[]machine.AttemptLog{gates(in("bwrap"))}, "ralph enter 1.1 --gate check --epic x.json"},
		"only gates, in none":              {[]machine.AttemptLog{gates(nil)}, "cd /w"},
	} {
		v := machine.NodeView{Key: "1.1", Status: executor.Blocked, Attempts: c.attempts, Ways: []machine.Way{{Verb: executor.RetryNode, How: executor.GatesOnly, Key: "1.1"}}}
		steps := NextSteps(v, "/w", Asker{about: " --epic x.json"})
		if len(steps) != 2 || steps[0].Command != c.want || steps[0].Way != nil || steps[0].What != "fix it there yourself, then:" {
			t.Errorf("%s: %+v, want first %s", name, steps, c.want)
		}
	}
}

// The table of docs/operations.md names, for each cause, the decisions that are shown for
// it, and no others.
func TestOperationsHasTheTableOfAdvices(t *testing.T) {
	text, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "| `waiting:` |")
	table, _, _ = strings.Cut(table, "\n\n")
	documented := map[executor.Cause][]string{}
	decision := regexp.MustCompile("`ralph (approve|reject|retry|resume|skip)([^`]*)`")
	quoted := regexp.MustCompile("`([^`]*)`")
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			continue
		}
		var said []string
		for _, m := range decision.FindAllStringSubmatch(cells[3], -1) {
			said = append(said, decided(m[1], m[2]))
		}
		for _, c := range quoted.FindAllStringSubmatch(cells[1], -1) {
			cause := executor.Cause(c[1])
			documented[cause] = append(documented[cause], said...)
		}
	}
	for cause, list := range advices() {
		name, _, _ := strings.Cut(string(cause), ",")
		if name == string(sumBlocked) || cause == blocked || cause == closed || cause == notBegun {
			continue // no wait
		}
		have, ok := documented[executor.Cause(name)]
		if !ok {
			t.Errorf("docs/operations.md has no row for %q", name)
		}
		var want []string
		for _, a := range list {
			if a.verb != "" {
				rest := ""
				if a.how != executor.HowPlain {
					rest = " --" + string(a.how)
				}
				if a.text != "" {
					rest += " -m"
				}
				want = append(want, decided(string(a.verb), rest))
			}
		}
		slices.Sort(want)
		slices.Sort(have)
		if want, have = slices.Compact(want), slices.Compact(have); !slices.Equal(want, have) {
			t.Errorf("%s: shown are %q, docs/operations.md names %q", cause, want, have)
		}
	}
}

// decided is a decision without the node, the text and the budget.
func decided(verb, rest string) string {
	for _, flag := range regexp.MustCompile(` (-m|--[a-z-]+)`).FindAllStringSubmatch(rest, -1) {
		if flag[1] != "--budget" {
			verb += " " + flag[1]
		}
	}
	return verb
}

// Who keeps a record up to date looks accounts up before: nobody waits for the system then.
func TestAnAccountThatWasLookedUpIsNotLookedUpAgain(t *testing.T) {
	const ann = "ann-of-no-machine"
	for known, want := range map[bool]string{true: "", false: ann} {
		who := Asker{user: "bo", accounts: map[string]bool{ann: known}}
		if name, only := who.as([]string{"@" + ann}); name != want || only == "" {
			t.Errorf("with an account (%v): %q%s", known, name, only)
		}
	}
}
