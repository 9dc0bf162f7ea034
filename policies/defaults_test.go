package policies

import (
	"bytes"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/ralph-compiler/ralph/diag"
)

// K28, K7, S4-73, S4-81, S4-83
func TestDefaultsOfBlocks(t *testing.T) {
	s := decodeText(t, "gate \"g\" { run = \"make\" }\nagent \"a\" {}\nsecret \"TOKEN\" {}\ntracker \"bd\" {}\nrunner \"r\" { kind = \"claude\" }")
	g, a, r := s.Gates["g"], s.Agents["a"], s.Runners["r"]
	if g.Kind.V != "command" || g.OnFailure.V != "retry" || !g.ProtectNew.V || g.Evidence.V || g.RedFirst.V || g.Expect.ExitCode.V != 0 || g.TimeoutMS.V != 300_000 {
		t.Errorf("gate: %+v", g)
	}
	if a.Runner.V != "claude" || a.Access.V != "read" || a.TimeoutMultiplier.V != 1 || a.Human.V || !a.Active.V || a.Capabilities.V == nil {
		t.Errorf("agent: %+v", a)
	}
	if r.Prompt.V != "stdin" || r.Outcome.V != "optional" || !slices.Contains(r.Env.V, "PATH") || !slices.Contains(r.Env.V, "ANTHROPIC_API_KEY") {
		t.Errorf("runner: %+v", r)
	}
	if s.Secrets["TOKEN"].Env.V != "TOKEN" {
		t.Errorf("secret: %+v", s.Secrets["TOKEN"])
	}
	if tr := s.Tracker; tr.PollMS.V != 15_000 || tr.Approvals.V || tr.Proposals.V || tr.GC.V {
		t.Errorf("tracker: %+v", tr)
	}
	if slices.Contains(DefaultEnv("command"), "ANTHROPIC_API_KEY") {
		t.Error("a command gets the key of a provider")
	}
}

// S0-02, K21
func TestOverlayKeepsOrigins(t *testing.T) {
	s := decodeText(t, "hitl { level = \"every-node\" }\npolicy \"default\" {\n default = true\n hitl { plan = \"required\" }\n step \"x\" {}\n}")
	h := Overlay(s.Settings, s.DefaultPolicy().Settings).HITL
	if h.Level.V != "every-node" || h.Level.Origin != "hitl" || h.Plan.V != "required" || h.Plan.Origin != `policy "default"` || h.OnHumanMessage.Origin != "built-in hitl" {
		t.Errorf("got %+v", h)
	}
}

func TestLineEndsMakeNoDifference(t *testing.T) {
	src := []byte("gate \"g\" {\n  agent  = agent.default\n  prompt = <<-EOT\n    look\n    twice\n  EOT\n}\n")
	crlf := append([]byte("\xef\xbb\xbf"), bytes.ReplaceAll(src, []byte("\n"), []byte("\r\n"))...)
	a, da := Decode(Input{Files: []*diag.File{diag.NewFile("a.hcl", src)}})
	b, db := Decode(Input{Files: []*diag.File{diag.NewFile("a.hcl", crlf)}})
	if len(da)+len(db) > 0 || a.Gates["g"].Prompt.V != "look\ntwice\n" || a.Gates["g"].Prompt.V != b.Gates["g"].Prompt.V {
		t.Errorf("LF gives %q %v, CRLF with BOM %q %v", a.Gates["g"].Prompt.V, da, b.Gates["g"].Prompt.V, db)
	}
	f := diag.NewFile("a.hcl", crlf)
	if r := b.Gates["g"].Range; f.Text(r) != `gate "g"` {
		t.Errorf("the range of the gate is %q", f.Text(r))
	}
}

// S4-30: `required` is met by a pre-release of the version, and by a build
// without one.
func TestRequiredVersion(t *testing.T) {
	for version, fits := range map[string]bool{"0.2.0": true, "0.1.9": false, "0.2.0-rc1": true, "(devel)": true, "": true, "1.0.0": false} {
		f := diag.NewFile("r.hcl", []byte(`ralph { required = ">= 0.2, < 1" }`))
		_, diags := Decode(Input{Files: []*diag.File{f}, Version: version})
		if diags.HasErrors() == fits {
			t.Errorf("version %q: %v", version, diags)
		}
	}
}

func TestFormat(t *testing.T) {
	got := Format([]byte("agent \"a\" {\nmodel=\"x\"\n  capabilities   = [ \"plan\" ]\n}\n"))
	if want := "agent \"a\" {\n  model        = \"x\"\n  capabilities = [\"plan\"]\n}\n"; string(got) != want {
		t.Errorf("got %q", got)
	}
	if again := Format(got); !bytes.Equal(again, got) {
		t.Errorf("formatted twice: %q", again)
	}
	if j := []byte(`{"agent":  {}}`); !bytes.Equal(Format(j), j) {
		t.Error("JSON is changed")
	}
}

func TestGlobFunctionStaysInside(t *testing.T) {
	project := fstest.MapFS{"a/1.md": {}, "a/b/2.md": {}, ".git/x.md": {}}
	for pattern, want := range map[string]string{"**/*.md": "a/1.md,a/b/2.md", "a/*.md": "a/1.md", "none/*": "", "../*": "!", "/etc/*": "!", "[": "!"} {
		f := diag.NewFile("r.hcl", []byte("agent \"a\" {\n tags = [join(\",\", glob(\""+pattern+"\"))]\n}"))
		s, diags := Decode(Input{Files: []*diag.File{f}, Project: project})
		got := "!"
		if !diags.HasErrors() {
			got = s.Agents["a"].Tags.V[0]
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", pattern, got, want)
		}
	}
}
