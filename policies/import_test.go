package policies

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ralph-compiler/ralph/diag"
)

// importing is the policy that agents are imported into.
type importing struct {
	t     *testing.T
	files map[string]string
}

func (i *importing) run(found ...Found) (said string) {
	i.t.Helper()
	in := Input{Project: fstest.MapFS{".claude/agents/dev.md": {Data: []byte("x")}, "dev.md": {Data: []byte("x")}}}
	for name, text := range i.files {
		in.Files = append(in.Files, diag.NewFile(name, []byte(text)))
	}
	changed, done, list := Import(in, "policies/agents.hcl", found)
	if list.HasErrors() {
		i.t.Fatalf("the policy has errors: %v", list)
	}
	for name, b := range changed {
		if string(b) == i.files[name] {
			i.t.Errorf("%s is said to change, and does not", name)
		}
		i.files[name] = string(b)
	}
	for _, d := range done {
		said += fmt.Sprintf("%s new=%t %v %s\n", d.Agent, d.New, d.Lines, d.Left)
	}
	return said
}

// again expects a second import of the same to change nothing.
func (i *importing) again(found ...Found) {
	i.t.Helper()
	before := fmt.Sprint(i.files)
	if said := i.run(found...); fmt.Sprint(i.files) != before {
		i.t.Errorf("a second import changes the policy once more (%s):\n%v\nwant:\n%s", said, i.files, before)
	}
}

func (i *importing) want(name, text string) {
	i.t.Helper()
	if i.files[name] != text {
		i.t.Errorf("%s is\n%s\nwant\n%s", name, i.files[name], text)
	}
}

var (
	foundDev   = Found{Name: "dev", Description: "Writes ${code}.\nA lot.", From: ".claude/agents", Kind: "claude", Path: ".claude/agents/dev.md", Model: "opus", Access: "write"}
	foundBuild = Found{Name: "build", From: "opencode", Kind: "opencode", Slug: "build", Access: "write"}
)

func TestAgentsThatNobodyDeclaredAreAppended(t *testing.T) { // S4-132
	i := &importing{t, map[string]string{}}
	i.run(foundDev, foundBuild)
	i.want("policies/agents.hcl", "# Agents, as `ralph sync-agents` found them. It sets path, slug, runner and model\n"+
		`# anew; all else in here is yours.

runner "opencode" {
  kind = "opencode"
}

# From opencode. No step chooses it before you fill in its capabilities,
# such as ["implement", "test"] or ["review"].
agent "build" {
  slug         = "build"
  runner       = runner.opencode
  access       = "write"
  capabilities = []
}

# From .claude/agents/dev.md. No step chooses it before you fill in its capabilities,
# such as ["implement", "test"] or ["review"].
agent "dev" {
  description  = "Writes $${code}. A lot."
  path         = ".claude/agents/dev.md"
  runner       = runner.claude
  model        = "opus"
  access       = "write"
  capabilities = []
}
`)
	i.again(foundDev, foundBuild)
	i.files["policies/agents.hcl"] = strings.Replace(i.files["policies/agents.hcl"], "capabilities = []", `capabilities = ["implement"]`, 1)
	i.again(foundDev, foundBuild)
}

func TestBlocksThatAreThereAreSetAndNothingElse(t *testing.T) { // S4-132
	const rest = `# mine
runner "cc" { kind = "claude" }

policy "default" {
  default = true
  step "implement" { capabilities = ["implement"] } # as ever
}
`
	cases := map[string]struct {
		found        Found
		before, then string
	}{
		"a model that differs": {
			foundDev,
			"agent \"dev\" {\n    # ours\n    path = \"./.claude/agents/dev.md\"   # the file\n    runner = runner.cc\n    model = model.sonnet // cheap\n    access = \"read\"\n    tags = [ \"x\" ]\n}\n",
			"agent \"dev\" {\n    # ours\n    path = \"./.claude/agents/dev.md\"   # the file\n    runner = runner.cc\n    model = \"opus\" // cheap\n    access = \"read\"\n    tags = [ \"x\" ]\n}\n",
		},
		"what nobody wrote is added below what says who it is": {
			foundDev,
			"agent \"dev\" {\n  path         = \".claude/agents/dev.md\" # the file\n  capabilities = [\"implement\"]\n}\n",
			"agent \"dev\" {\n  path         = \".claude/agents/dev.md\" # the file\n  model        = \"opus\"\n  access       = \"write\"\n  capabilities = [\"implement\"]\n}\n",
		},
		"a block on one line": {
			foundBuild,
			"agent \"build\" { capabilities = [\"implement\"] }\nrunner \"oc\" { kind = \"opencode\" }\n",
			"agent \"build\" {\n  capabilities = [\"implement\"]\n  slug         = \"build\"\n  runner       = runner.oc\n  access       = \"write\"\n}\nrunner \"oc\" { kind = \"opencode\" }\n",
		},
		"an empty block": {
			foundBuild,
			"agent \"build\" {}\nrunner \"oc\" { kind = \"opencode\" }\n",
			"agent \"build\" {\n  slug   = \"build\"\n  runner = runner.oc\n  access = \"write\"\n}\nrunner \"oc\" { kind = \"opencode\" }\n",
		},
		"a file takes the place of a slug": {
			foundDev,
			"agent \"dev\" {\n  slug   = \"dev\" # old\n  model  = \"opus\"\n  access = \"write\"\n}\n",
			"agent \"dev\" {\n  path   = \".claude/agents/dev.md\" # old\n  model  = \"opus\"\n  access = \"write\"\n}\n",
		},
		"Windows line endings stay": {
			foundDev,
			"agent \"dev\" {\r\n  path = \".claude/agents/dev.md\"\r\n  access = \"write\"\r\n}\r\n",
			"agent \"dev\" {\r\n  path = \".claude/agents/dev.md\"\r\n  model = \"opus\"\r\n  access = \"write\"\r\n}\r\n",
		},
		"an expression stays, and what it comes to": {
			foundDev,
			"locals { m = \"son\" }\nagent \"dev\" {\n  path = \".claude/agents/dev.md\"\n  model = \"${local.m}net\"\n  access = \"write\"\n}\n",
			"locals { m = \"son\" }\nagent \"dev\" {\n  path = \".claude/agents/dev.md\"\n  model = \"${local.m}net\"\n  access = \"write\"\n}\n",
		},
		"a file that was given to another runner": {
			foundDev,
			"runner \"cx\" { kind = \"codex\" }\nagent \"dev\" {\n  path = \".claude/agents/dev.md\"\n  runner = runner.cx\n}\n",
			"runner \"cx\" { kind = \"codex\" }\nagent \"dev\" {\n  path = \".claude/agents/dev.md\"\n  runner = runner.cx\n}\n",
		},
		"a person": {
			foundDev,
			"agent \"dev\" {\n  human = true\n}\n",
			"agent \"dev\" {\n  human = true\n}\n",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			i := &importing{t, map[string]string{"ralph.hcl": rest + c.before}}
			if strings.Contains(c.before, "\r") {
				i.files["ralph.hcl"] = strings.ReplaceAll(rest, "\n", "\r\n") + c.before
				c.then = strings.ReplaceAll(rest, "\n", "\r\n") + c.then
			} else {
				c.then = rest + c.then
			}
			i.run(c.found)
			i.want("ralph.hcl", c.then)
			if len(i.files) != 1 {
				t.Errorf("files %v, want ralph.hcl alone", i.files)
			}
			i.again(c.found)
		})
	}
}

// A block is about the agent whose slug or file it names, whatever it is called; it
// is not about another one of its own name. S4-76, S4-132
func TestAnAgentIsFoundByItsSlug(t *testing.T) {
	policy := `runner "opencode" {
  kind = "opencode"
}

agent "maker" {
  slug         = "build"
  runner       = runner.opencode
  capabilities = ["implement"]
}

agent "plan" {
  slug         = "planner"
  runner       = runner.opencode
  capabilities = ["plan"]
}
`
	found := []Found{
		{Name: "build", From: "opencode", Kind: "opencode", Slug: "build", Model: "anthropic/x", Access: "write"},
		{Name: "plan", From: "opencode", Kind: "opencode", Slug: "plan", Access: "read"},
		{Name: "planner", From: "opencode", Kind: "opencode", Slug: "planner", Access: "read"},
	}
	i := &importing{t, map[string]string{"ralph.hcl": policy}}
	said := i.run(found...)
	if got := i.files["ralph.hcl"]; !strings.Contains(got, `model`) || !strings.Contains(got, `"anthropic/x"`) || strings.Count(got, "agent ") != 2 || !strings.Contains(got, `slug         = "planner"`) {
		t.Errorf("the policy is\n%s", got)
	}
	if more := i.files["policies/agents.hcl"]; more != "" {
		t.Errorf("agents that have blocks got others:\n%s\n%s", more, said)
	}
	if !strings.Contains(said, `"plan" of opencode is left out: this block is about "planner"`) {
		t.Errorf("said:\n%s", said)
	}
	i.again(found...)
}

func TestWhatIsNotImportedIsSaid(t *testing.T) { // S4-132
	i := &importing{t, map[string]string{
		"a.hcl.json": `{"agent": {"dev": {"model": "sonnet"}}}`,
		"b.hcl":      "runner \"oc\" {\n  kind = \"opencode\"\n}\n\nagent \"build\" {\n  slug   = \"build\"\n  runner = runner.oc\n  access = \"read\"\n}\n",
	}}
	twin := Found{Name: "build", From: ".claude/agents", Kind: "claude", Path: ".claude/agents/build.md"}
	said := i.run(foundDev, twin, foundBuild, Found{Name: "a\x1bb", Kind: "claude", Path: "x.md"})
	for _, want := range []string{"dev new=false [] its block is written in JSON", "build new=false []  \n", "the one of .claude/agents/build.md is left out", "cannot be that of a block"} {
		if !strings.Contains(said, strings.TrimSpace(want)) {
			t.Errorf("said\n%s\nwant %q in it", said, want)
		}
	}
	if i.files["policies/agents.hcl"] != "" {
		t.Errorf("a file was made:\n%s", i.files["policies/agents.hcl"])
	}
}

func TestABrokenPolicyIsNotImportedInto(t *testing.T) { // S4-132
	changed, done, list := Import(Input{Files: []*diag.File{diag.NewFile("ralph.hcl", []byte("agent {"))}}, "policies/agents.hcl", []Found{foundDev})
	if !list.HasErrors() || changed != nil || done != nil {
		t.Errorf("got %v, %v, %v; want errors alone", changed, done, list)
	}
}
