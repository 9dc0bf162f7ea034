package ir_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/irtest"
)

// edits are what the golden cases of testdata/diff do to irtest.Rich, by name.
var edits = map[string]func(e *ir.Epic){
	"nothing": func(*ir.Epic) {},
	"a-sprint-is-added": func(e *ir.Epic) {
		n := e.Nodes[2]
		n.ID, n.Key, n.Title = "bd-new", "1.3d", "Search API"
		e.Nodes = append(e.Nodes, n)
		at(e, "1.4").After = append(at(e, "1.4").After, ir.Edge{Key: "1.3d", From: "number", Type: ir.Blocks})
	},
	"a-sprint-is-removed": func(e *ir.Epic) {
		e.Nodes = e.Nodes[:len(e.Nodes)-1]
	},
	"a-sprint-is-renumbered": func(e *ir.Epic) {
		for i := range e.Nodes {
			if e.Nodes[i].Key == "5.1c" {
				e.Nodes[i].Key = "5.1d"
			}
			for j := range e.Nodes[i].After {
				if e.Nodes[i].After[j].Key == "5.1c" {
					e.Nodes[i].After[j].Key = "5.1d"
				}
			}
		}
	},
	"a-prompt-changes": func(e *ir.Epic) {
		n := at(e, "5.2")
		n.Prompt = append(append([]string{}, n.Prompt[:4]...), "- Do it `twice`", "```", "- It works")
		n.Title = "Load test with 20 × the expected traffic"
	},
	"gates-and-limits-are-loosened": func(e *ir.Epic) {
		n := at(e, "2.1")
		n.Steps = append([]ir.Step{}, n.Steps...)
		n.Steps[0].Gates = []string{"unit"}
		n.Steps[0].Limits.Attempts = 10
		n.Limits.StepLimits = n.Steps[0].Limits
		n.Complexity = ir.Complexity{Level: "simple", From: "plan"}
		m := at(e, "3b.1")
		m.Steps = append([]ir.Step{}, m.Steps...)
		m.Steps[0].Gates = []string{"unit"}
		g := e.Gates["unit"]
		g.Protect, g.TimeoutMS = nil, 3_600_000
		e.Gates["unit"] = g
		h := e.Gates["lead-approves"]
		h.Approvers = append([]string{"@everyone"}, h.Approvers...)
		e.Gates["lead-approves"] = h
		a := e.Agents["reviewer"]
		a.Access = "write"
		e.Agents["reviewer"] = a
		e.Run.HITL.Level = "none"
		e.Run.Git.OnTamper = "note"
		e.Run.Worktree.Layout, e.Run.Worktree.MaxCommit = "worktree", 2*ir.MaxCommit
		e.Run.Budget.USDMicro = 0
		e.Waivers = append(e.Waivers, ir.Waiver{Rule: "critical-needs-a-person", Node: "2.2", Reason: "demo", Owner: "ana", Until: "2030-01-31"})
		at(e, "4.2").Done = true
	},
	"a-wall-is-added": func(e *ir.Epic) { wall(e, "auto", "model") },
	"a-wall-is-taken-down": func(e *ir.Epic) {
		n := at(e, "2.1")
		n.Steps = append([]ir.Step{}, n.Steps...)
		n.Steps[0].Sandbox = "none"
		e.Sandboxes = map[string]ir.Sandbox{
			"default": {Kind: "landlock", Network: []string{"model", "*"}, Services: []string{"127.0.0.1:5432"}, Limits: map[string]string{"memory": "8000000000"}},
			"none":    {Kind: "none"},
		}
		g := e.Gates["unit"]
		g.Network = []string{"example.com"}
		e.Gates["unit"] = g
		e.Run.Worktree.Sandbox = "none"
	},
	"hostile-text": func(e *ir.Epic) {
		n := at(e, "5.2")
		n.Title = "</details>\x1b[31m @everyone ``` | ![x](http://x) \u202e"
		n.Prompt = []string{"````", "\x1b]0;x\x07", "<script>", "- [ ] `a`"}
		n.Labels = []string{"a\nb"}
	},
	"dependencies-change": func(e *ir.Epic) {
		n := at(e, "6.2")
		n.After = []ir.Edge{{Key: "5.2", From: "explicit", Type: ir.Blocks}, {Key: "6.1a", From: "number", Type: ir.Blocks}, {Key: "1.1", From: "explicit", Type: ir.Related}}
		ir.SortEdges(n.After)
		n.Merges = []ir.Key{"5.2", "6.1a"}
	},
	"tables-change": func(e *ir.Epic) {
		e.Run.Git.Forge = "glab"
		delete(e.Agents, "planner")
		e.Agents["tester"] = ir.Agent{Runner: "claude", Access: "read"}
		r := e.Runners["claude"]
		r.Env = append([]string{"AWS_PROFILE"}, r.Env...)
		e.Runners["claude"] = r
		g := e.Gates["blind-review"]
		g.OutputSchema = json.RawMessage(`{"type":"object","required":["status","message"],"properties":{"status":{"enum":["pass","fail","stop"]},"message":{"type":"string"},"score":{"maximum":2.0}}}`)
		e.Gates["blind-review"] = g
		e.Epic.Base = "develop"
		e.Run.Tracker = &ir.Tracker{Kind: "bd", Prefix: "x"}
	},
}

// wall confines all steps, gates and setup.
func wall(e *ir.Epic, kind string, hosts ...string) {
	e.Sandboxes = map[string]ir.Sandbox{"default": {Kind: kind, Network: hosts, Required: true, Limits: map[string]string{"memory": "4000000000"}}}
	for i := range e.Nodes {
		n := &e.Nodes[i]
		n.Steps = append([]ir.Step{}, n.Steps...)
		for k := range n.Steps {
			n.Steps[k].Sandbox = "default"
		}
	}
	for name, g := range e.Gates {
		g.Sandbox = "default"
		e.Gates[name] = g
	}
	e.Run.Worktree.Sandbox = "default"
}

func at(e *ir.Epic, key ir.Key) *ir.Node {
	for i := range e.Nodes {
		if e.Nodes[i].Key == key {
			return &e.Nodes[i]
		}
	}
	panic("no node " + key)
}

// S0-97 S0-98 K12: golden cases in testdata/diff, rewritten by -update.
func TestDiff(t *testing.T) {
	update := flag.Lookup("update").Value.String() == "true"
	for name, edit := range edits {
		t.Run(name, func(t *testing.T) {
			old, now := irtest.Rich(), irtest.Rich()
			if name == "a-wall-is-taken-down" {
				wall(old, "auto", "model")
				wall(now, "auto", "model")
			}
			edit(now)
			ir.Seal(old)
			ir.Seal(now)
			d := ir.Diff(old, now)
			raw, err := json.Marshal(d)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(raw, []byte("null")) {
				t.Errorf("a null in %s", raw)
			}
			text, markdown := d.Text(), d.Markdown()
			for _, out := range []string{text, markdown} {
				if strings.ContainsAny(out, "\x1b\x07\u202e") {
					t.Errorf("a control character in %q", out)
				}
			}
			got := txtar.Format(&txtar.Archive{Files: []txtar.File{
				{Name: "text", Data: []byte(text)},
				{Name: "markdown", Data: []byte(markdown)},
			}})
			file := filepath.Join("testdata", "diff", name+".txtar")
			if update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestDiffFindsEveryField(t *testing.T) {
	// Each single change of a random field shows, whatever it is.
	fields := 0
	old := irtest.Worked()
	base := encode(t, old)
	for line := range strings.Lines(string(base)) {
		field, value, isScalar := strings.Cut(strings.TrimSpace(line), ": ")
		value = strings.TrimSuffix(value, ",")
		if strings.HasPrefix(line, "        \"") && strings.Contains(`"iterations""attempts""breaker""runner_retries""timeout_ms"`, field) {
			continue // a node's copy of its step's limits
		}
		var changed string
		switch {
		case !isScalar || !strings.HasPrefix(field, `"`) || !strings.HasSuffix(field, `"`) || strings.Contains(`"ir""work""judge""digest"`, field):
			continue
		case value == "true" || value == "false":
			changed = fmt.Sprint(value != "true")
		case strings.HasPrefix(value, `"`):
			changed = strings.TrimSuffix(value, `"`) + `x"`
		case value == "[]" || value == "{}" || value == "null" || value == "[" || value == "{":
			continue
		default:
			changed = "1" + value
		}
		edited := strings.Replace(string(base), line, strings.Replace(line, ": "+value, ": "+changed, 1), 1)
		now, _ := ir.Decode([]byte(edited))
		if now == nil {
			t.Fatalf("line %q became unreadable", line)
		}
		fields++
		if ir.Diff(old, now).Empty() && field != `"merges"` {
			t.Errorf("no difference after %s → %s", strings.TrimSpace(line), changed)
		}
	}
	if fields < 150 {
		t.Errorf("only %d fields were changed", fields)
	}
}

func TestMarkdownFitsAComment(t *testing.T) {
	now := irtest.Large(3000)
	for i := range now.Nodes {
		now.Nodes[i].Prompt = append(now.Nodes[i].Prompt, strings.Repeat("x", 1000))
		now.Nodes[i].Title += "!"
		now.Nodes[i].Steps[0].Gates = nil
	}
	d := ir.Diff(irtest.Large(3000), now)
	text := d.Markdown()
	if len(text) > 65_000 || !strings.Contains(text, "do not fit a comment") || strings.Count(text, "<details>") != strings.Count(text, "</details>") {
		t.Errorf("%d bytes, ends with %q", len(text), text[len(text)-200:])
	}
	if len(d.Weaker) != 1 || len(d.Weaker[0].Nodes) != 3000 {
		t.Errorf("%d weakenings", len(d.Weaker))
	}
}

func BenchmarkDiff(b *testing.B) {
	old, now := irtest.Large(10_000), irtest.Large(10_000)
	for i := range now.Nodes {
		if i%10 == 0 {
			now.Nodes[i].Prompt = append(now.Nodes[i].Prompt, "one more line")
		}
	}
	ir.Seal(now)
	for b.Loop() {
		d := ir.Diff(old, now)
		if len(d.Changed) != 1000 || d.Text() == "" {
			b.Fatal(d.Summary())
		}
	}
}
