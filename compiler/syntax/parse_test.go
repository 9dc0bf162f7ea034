package syntax

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/ralph-compiler/ralph/diag"
)

func parse(t *testing.T, src string, opts Options) (*Plan, diag.List) {
	t.Helper()
	return Parse(diag.NewFile("plan.md", []byte(src)), opts)
}

// S0-28 S0-29 S0-31 S0-32 S0-146 S0-147 L0-01 L0-02
func TestIDs(t *testing.T) {
	phase, sprint := newMatcher(Sprint().Phase), newMatcher(Sprint().Item)
	for _, c := range []struct {
		name string
		m    *matcher
		ok   []string
		bad  []string
	}{
		{"phases have a number and letters", &phase, []string{"1", "2", "3a", "3b", "12", "3ab", "0"}, []string{"1.2", "a1", "1-2", "1A", "phase-1", ""}},
		{"sprints have two numbers with letters", &sprint, []string{"1.1", "1.2a", "3a.2", "3b.2b", "12.5c", "1.2ab"}, []string{"1", "1-2", "1.2.3", "a.1", "1.a", "1.2A", "1.", ".1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, id := range c.ok {
				if got := c.m.match(id + ": Title"); got.look != goodID || got.id != id {
					t.Errorf("%q: got %+v, want it to be an id", id, got)
				}
			}
			for _, id := range c.bad {
				if got := c.m.match(id + ": Title"); got.look == goodID {
					t.Errorf("%q: got %+v, want it not to be an id", id, got)
				}
			}
		})
	}
}

func TestLabelNames(t *testing.T) {
	for written, want := range map[string]LabelName{
		"Depends On": DependsOn, "dependency": DependsOn, "PREREQUISITE": DependsOn, "Blocked by": DependsOn, "depends_on": DependsOn, "unlocks": Blocks,
		"Dev Agents": DevAgents, "Dev Agent": DevAgents, "Dev Agent(s)": DevAgents, "Agent": DevAgents, "Agents": DevAgents, "QA Agent(s)": QAAgents,
		"Deliverable": Tasks, "Acceptance criterion": Acceptance, "Definition of Done": Acceptance, "Tests": Verify, "Test": Verify,
		"Priorities": Priority, "Capabilities": Capability, "Branches": Branch, "Session ID": SessionID, "Session": Session, "Agent-Teams Review": Review, "Reviews": Review,
		"Status": Status, "Progress": Progress, "PR": PR, "Tasks (must)": Tasks,
	} {
		if got, ok := LookupLabel(written); !ok || got != want {
			t.Errorf("LookupLabel(%q) = %q, %v; want %q", written, got, ok, want)
		}
	}
	for _, written := range []string{"", "Note", "Preview of", "Statu s", strings.Repeat("x", 100)} {
		if got, ok := LookupLabel(written); ok {
			t.Errorf("LookupLabel(%q) = %q; want none", written, got)
		}
	}
}

func TestPlainText(t *testing.T) {
	for src, want := range map[string]string{
		"**bold** and *it* `code *x*`": "bold and it code *x*", "src/**/*.go, docs/**": "src/**/*.go, docs/**", "*.go": "*.go", "2 * 3 * 4": "2 * 3 * 4",
		"snake_case_name __bold__": "snake_case_name bold", "[1.1](#sprint-11) ![i](x)": "1.1 i", "[x] y": "[x] y", `a \* b`: "a * b", "~~gone~~ here": "gone here",
		"a &amp; b": "a & b", "a <!-- c --> b": "a  b", "Vec<T> <b>x</b><br>y": "Vec<T> x y", "line\n   two": "line two", "``a ` b``": "a ` b", "`open": "`open",
	} {
		p := newParser(diag.NewFile("p", []byte(src)), Options{})
		p.src = src
		if got := p.plain(0, len(src)); got.Value != want {
			t.Errorf("plain(%q) = %q, want %q", src, got.Value, want)
		}
	}
}

func TestPlainValuesLoseParentheses(t *testing.T) {
	for in, want := range map[string]string{
		"P0 (Must Have)": "P0", "None.": "None", "a (b) (c).": "a", "(all)": "(all)", "f(x) y": "f(x) y", "x (a (b))": "x", "": "",
	} {
		if got := (Text{Value: in}).Plain(); got != want {
			t.Errorf("Plain of %q = %q, want %q", in, got, want)
		}
	}
}

func TestSubRangesOfText(t *testing.T) {
	src := "see **1.2a** and `1.3`"
	p := newParser(diag.NewFile("p", []byte(src)), Options{})
	p.src = src
	in := p.plain(0, len(src))
	for _, id := range []string{"1.2a", "1.3"} {
		at := strings.Index(in.Value, id)
		if r := in.Sub(at, at+len(id)); src[r.Start:r.End] != id {
			t.Errorf("%s is at %q", id, src[r.Start:r.End])
		}
	}
}

func TestPeekReadsOnlyFrontMatter(t *testing.T) {
	fm, diags := Peek(diag.NewFile("p", []byte("---\nralph: 1\ndialect: task\npolicies: []\n---\n### Sprint 1.1\n")))
	if fm.Dialect.Value != "task" || !fm.PoliciesSet || len(fm.Policies) != 0 || len(diags) != 0 {
		t.Errorf("got %+v, %v", fm, diags)
	}
	if fm, _ := Peek(diag.NewFile("p", []byte(strings.Repeat("x", 1<<20)))); fm.Present() {
		t.Errorf("front matter in a plan without any: %+v", fm)
	}
}

// limitCases give the codes that no readable golden case can.
func limitCases() map[diag.Code]struct {
	src  string
	opts Options
} {
	type c = struct {
		src  string
		opts Options
	}
	return map[diag.Code]c{
		"plan-too-large":     {"### Sprint 1.1: A\n", Options{Limits: Limits{Bytes: 10}}},
		"plan-line-too-long": {"### Sprint 1.1: A\n" + strings.Repeat("x", 100), Options{Limits: Limits{Line: 50}}},
		"nested-too-deeply":  {strings.Repeat("> ", 70) + "x\n", Options{}},
		"too-many-items":     {"### Sprint 1.1: A\n### Sprint 1.2: B\n", Options{Limits: Limits{Items: 1}}},
		"not-utf8":           {"### Sprint 1.1: \xe9t\xe9\n", Options{}},
	}
}

func TestLimitsAreErrors(t *testing.T) {
	for code, c := range limitCases() {
		plan, diags := parse(t, c.src, c.opts)
		if plan == nil || !diags.HasErrors() || diags[0].Code != code {
			t.Errorf("%s: got %v", code, diags)
		}
	}
	if _, diags := parse(t, "\xff\xfe#\x00", Options{}); len(diags) != 1 || diags[0].Code != "not-utf8" {
		t.Errorf("UTF-16: got %v", diags)
	}
}

// Every code that is declared for plans is given by a case of this package.
func TestEveryCodeHasACase(t *testing.T) {
	seen := map[diag.Code]bool{}
	for code := range limitCases() {
		seen[code] = true
	}
	cases, _ := filepath.Glob("testdata/*.txtar")
	for _, name := range cases {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(file(txtar.Parse(b), "out/diags")) {
			if f := strings.Fields(line); len(f) > 2 && strings.HasSuffix(f[2], ":") {
				seen[diag.Code(strings.TrimSuffix(f[2], ":"))] = true
			}
		}
	}
	for _, e := range diag.Table() {
		if (e.About == "plan" || e.About == "input") && !seen[e.Code] && slices.Contains(ownCodes(t), e.Code) {
			t.Errorf("no case gives %s", e.Code)
		}
	}
}

// ownCodes lists the codes that the sources of this package name.
func ownCodes(t *testing.T) []diag.Code {
	t.Helper()
	out := map[diag.Code]bool{}
	files, _ := filepath.Glob("*.go")
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range diag.Table() {
			if strings.Contains(string(b), `"`+string(e.Code)+`"`) {
				out[e.Code] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(out))
}

func TestSameInputGivesSameTree(t *testing.T) {
	src := string(bigPlan(50))
	first, diags := parse(t, src, Options{})
	want := printTree(first) + printDiags(first.File, diags)
	for range 20 {
		again, diags := parse(t, src, Options{})
		if got := printTree(again) + printDiags(again.File, diags); got != want {
			t.Fatal("two readings differ")
		}
	}
}

// A checkout with CRLF gives the same texts; only the places differ.
func TestCRLFGivesTheSameTexts(t *testing.T) {
	src := string(bigPlan(20))
	a, _ := parse(t, src, Options{})
	b, _ := parse(t, strings.ReplaceAll(src, "\n", "\r\n"), Options{})
	if len(a.Items) != 20 || len(b.Items) != 20 {
		t.Fatalf("%d and %d items", len(a.Items), len(b.Items))
	}
	for i := range a.Items {
		x, y := &a.Items[i], &b.Items[i]
		if x.Title != y.Title || x.Section != y.Section || !slices.Equal(x.Body.Prose, y.Body.Prose) || len(x.Body.Tasks) != len(y.Body.Tasks) {
			t.Fatalf("item %s differs", x.ID)
		}
		for k := range x.Body.Tasks {
			if p, q := x.Body.Tasks[k], y.Body.Tasks[k]; p.Text.Raw != q.Text.Raw || !slices.Equal(p.Detail, q.Detail) {
				t.Fatalf("task %d of %s differs: %q %q", k, x.ID, p.Text.Raw, q.Text.Raw)
			}
		}
	}
}
