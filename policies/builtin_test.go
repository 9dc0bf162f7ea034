package policies

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/jsonschema"
)

func compileSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.Compile(JSONSchema())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// K6, K24, L0-07, S0-58
func TestBuiltinLimits(t *testing.T) {
	s, diags := Decode(Input{})
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	st := s.Settings
	for _, x := range []struct {
		name      string
		got, want int64
	}{
		{"attempts", int64(st.Retry.Attempts.V), 3},
		{"runner retries", int64(st.Retry.RunnerRetries.V), 5},
		{"breaker", int64(st.Limits.Breaker.V), 2},
		{"first wait", st.Retry.InitialMS.V, 5_000},
		{"longest wait", st.Retry.MaxMS.V, 300_000},
		{"step timeout", st.Limits.TimeoutMS.V, 20 * 60_000},
		{"command gate", s.GateTimeout("command").V, 5 * 60_000},
		{"agent gate", s.GateTimeout("agent").V, 10 * 60_000},
		{"review gate", s.Gates["blind-review"].TimeoutMS.V, 10 * 60_000},
		{"stall", st.Stall.AfterMS.V, 5 * 60_000},
		{"parallel nodes", int64(s.Concurrency.Nodes.V), 10},
		{"free space", st.Worktree.MinFree.V, 10_000_000_000},
		{"size of a commit", st.Worktree.MaxCommit.V, 256_000_000},
		{"build iterations of critical", int64(s.Complexity["critical"].Limits.Build.V), 40},
		{"plan iterations of trivial", int64(s.Complexity["trivial"].Limits.Plan.V), 2},
	} {
		if x.got != x.want {
			t.Errorf("%s: got %d, want %d", x.name, x.got, x.want)
		}
	}
	if st.Git.Cleanup.V != "never" || st.HITL.Level.V != "gates" || st.Integration.Mode.V != "dag" || st.Retry.Backoff.V != "exponential" {
		t.Errorf("settings: %+v", st)
	}
}

// S4-28, S4-30, K11
func TestBuiltinPolicy(t *testing.T) {
	s, _ := Decode(Input{})
	var steps []string
	for _, step := range s.Policies["workflow"].Steps {
		steps = append(steps, step.Name)
	}
	if got := strings.Join(steps, " "); got != "plan implement test review human_review" {
		t.Errorf("workflow has %s", got)
	}
	if s.DefaultPolicy().Name != "default" || len(s.DefaultPolicy().Steps) != 1 {
		t.Errorf("default policy is %+v", s.DefaultPolicy())
	}
	if got := sortedKeys(s.Dialects); len(got) != 12 {
		t.Errorf("dialects are %v", got)
	}
	for _, alias := range []string{"haiku", "opus", "sonnet"} {
		if s.Models[alias] == nil {
			t.Errorf("no model %s", alias)
		}
	}
	d := &decoder{scope: newScope(nil, nil), src: newTexts()}
	for _, a := range s.Agents {
		s.checkWords(d, a.Capabilities)
	}
	for _, g := range s.Gates {
		s.checkGate(d, g)
		_, diags := CheckOutput(g.OutputSchema.V, g.Range)
		d.diags.Add(diags...)
	}
	for _, p := range s.Policies {
		s.checkPolicy(d, p)
	}
	s.checkFallbacks(d)
	if len(d.diags) > 0 {
		t.Errorf("the built-in policy does not pass its own checks: %+v", d.diags)
	}
}

// plan-language §4: every attribute is settled for every built-in dialect.
func TestBuiltinDialects(t *testing.T) {
	s, _ := Decode(Input{})
	for _, name := range sortedKeys(s.Dialects) {
		d := s.Dialects[name]
		if d.Letters.V == "" || d.Numbers.V == "" || d.Groups.V == "" || d.Explicit.V == "" || d.Item.In.V == "" || d.Item.ID.V == "" {
			t.Errorf("dialect %s leaves something open: %+v", name, d)
		}
	}
	for name, groups := range map[string]bool{"sprint": true, "task": true, "code": true, "integer": false, "phase": false, "section": true, "spec-kit": true, "checklist": false, "table": false, "todo": false, "cursor": false} {
		if has := s.Dialects[name].Phase != nil; has != groups {
			t.Errorf("dialect %s: groups %v, want %v", name, has, groups)
		}
	}
	d, diags := s.Dialect("task:PR, Unit", diag.Range{})
	if len(diags) > 0 || strings.Join(d.Item.Keywords.V, " ") != "PR Unit" || s.Dialects["task"].Item.Keywords.V[0] != "Task" {
		t.Errorf("task:PR,Unit gives %+v %v", d.Item, diags)
	}
	if _, diags := s.Dialect("taks", diag.Range{}); len(diags) != 1 || !strings.Contains(diags[0].Detail, "task") {
		t.Errorf("taks gives %+v", diags)
	}
}

// `ralph init --builtin` prints these files: they are formatted, and a user who
// takes them over as they are gets the same policy.
func TestBuiltinFilesCanBeTakenOver(t *testing.T) {
	files := Builtin()
	for _, f := range files {
		if !bytes.Equal(Format(f.Bytes), f.Bytes) {
			t.Errorf("%s is not formatted", f.Name)
		}
	}
	s, diags := Decode(Input{Files: files})
	if len(diags) > 0 {
		t.Errorf("taken over, the built-in policy has mistakes: %+v", diags)
	}
	base, _ := Decode(Input{})
	a, _ := json.Marshal(s.Settings)
	b, _ := json.Marshal(base.Settings)
	strip := func(s []byte) string { return strings.ReplaceAll(string(s), "built-in ", "") }
	if strip(a) != strip(b) {
		t.Errorf("settings differ:\n%s\n%s", a, b)
	}
}

func TestDecodeDoesNotChangeTheBuiltinPolicy(t *testing.T) {
	before := dumpAll(t)
	decodeText(t, `limits { review_gate = "1m" }
agent "default" { model = "opus" }
gate "blind-review" {
  agent = agent.default
}`)
	if after := dumpAll(t); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

func dumpAll(t *testing.T) string {
	t.Helper()
	b, err := json.Marshal(builtin())
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func BenchmarkDecodeBuiltin(b *testing.B) {
	for b.Loop() {
		decodeBuiltin()
	}
}
