package compiler

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ralph-compiler/ralph/ir"
)

// compileWith compiles a plan under a policy, with files of the project.
func compileWith(o Options, plan, policy string, files ...string) Output {
	project := fstest.MapFS{}
	for i := 0; i+1 < len(files); i += 2 {
		project[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	in := Input{Plans: []Source{{Path: "plan.md", Bytes: []byte(plan)}}, Project: project, Options: o}
	if policy != "" {
		in.Policy = []Source{{Path: "ralph.hcl", Bytes: []byte(policy)}}
	}
	return Compile(in)
}

func epicOf(t *testing.T, out Output) *ir.Epic {
	t.Helper()
	if out.Diags.HasErrors() {
		t.Fatalf("errors:\n%s", printDiags(out))
	}
	return out.Results[0].Epic
}

func has(out Output, code string) bool {
	return slices.Contains(strings.Fields(codes(out.Diags)), code)
}

// S0-11: the owner is what the front matter says, and never the user of the
// machine.
func TestTheOwnerIsThatOfTheFrontMatter(t *testing.T) {
	t.Setenv("USER", "somebody")
	for plan, want := range map[string]string{
		"---\nralph: 1\nowner: ada\n---\n### Sprint 1.1: A\n": "ada",
		"### Sprint 1.1: A\n": "",
	} {
		if got := epicOf(t, compileText(plan)).Epic.Owner; got != want {
			t.Errorf("owner %q, want %q of %q", got, want, plan)
		}
	}
}

// S0-33, L0-15: letters make parallel sprints; the mark, in any case, leaves the
// name and is only checked against them.
func TestTheParallelMarkIsCheckedAgainstTheLetters(t *testing.T) {
	for _, mark := range []string{"(parallel)", "(Parallel)", "(PARALLEL)"} {
		out := compileText("### Sprint 1.1: Setup\n### Sprint 1.2a: Model " + mark + "\n### Sprint 1.2b: View " + mark + "\n")
		e := epicOf(t, out)
		if has(out, "parallel-mark") {
			t.Errorf("%s agrees with the letters:\n%s", mark, printDiags(out))
		}
		for _, n := range e.Nodes[1:] {
			if strings.Contains(n.Title, "(") || len(n.After) != 1 || n.After[0].Key != "1.1" {
				t.Errorf("%s: %s %q after %v", mark, n.Key, n.Title, n.After)
			}
		}
		out = compileText("### Sprint 1.1: Setup\n### Sprint 1.2: Model " + mark + "\n### Sprint 1.3: View\n")
		if e := epicOf(t, out); !has(out, "parallel-mark") || len(e.Nodes[1].After) != 1 || len(e.Nodes[2].After) != 1 {
			t.Errorf("%s without letters: edges changed, or no warning:\n%s", mark, printDiags(out))
		}
	}
}

// L0-15: merges that nothing marks, and numbers of sprints that prose states, are
// neither needed nor believed.
func TestCountsInProseAreIgnored(t *testing.T) {
	e := epicOf(t, compileText("# Site\n\n26 sprints in 3 phases.\n\n## Phase 1: A (9 sprints)\n### Sprint 1.1a: A\n### Sprint 1.1b: B\n### Sprint 1.2: Join them\n"))
	if len(e.Nodes) != 3 || fmt.Sprint(e.Nodes[2].Merges) != "[1.1a 1.1b]" {
		t.Errorf("%d nodes, merges %v", len(e.Nodes), e.Nodes[2].Merges)
	}
}

// S0-48, S0-141, S0-151: tasks are told in their order, and there is always a
// prompt.
func TestTasksStandInThePromptInTheirOrder(t *testing.T) {
	e := epicOf(t, compileText("### Sprint 1.1: A\n- [ ] zebra\n- [ ] apple\n- [ ] mango\n\n### Sprint 1.2: B\n"))
	at := -1
	for i, want := range []string{"zebra", "apple", "mango"} {
		if got := e.Nodes[0].Tasks[i].Text; got != want {
			t.Errorf("task %d is %q, want %q", i, got, want)
		}
		line := slices.IndexFunc(e.Nodes[0].Prompt, func(s string) bool { return strings.Contains(s, want) })
		if line <= at {
			t.Errorf("%s is in line %d of the prompt, behind %d", want, line, at)
		}
		at = line
	}
	if strings.TrimSpace(strings.Join(e.Nodes[1].Prompt, "")) == "" {
		t.Error("a sprint without tasks has no prompt")
	}
}

// S0-108, S0-110, S0-136, S0-137, S0-138, K27: from the plan to a node by the
// annotation, from a node to the plan by path, section and key.
func TestPlanAndEpicNameEachOther(t *testing.T) {
	plan := "# Shop\n\n## Phase 1: Base\n\n### Sprint 1.1: Data\n\n### Sprint 1.2: View\n"
	out := Compile(Input{Plans: []Source{{Path: "docs/plan.md", Bytes: []byte(plan)}}})
	e := epicOf(t, out)
	lines := strings.Split(string(out.Results[0].Annotated), "\n")
	if e.Epic.Plan != "docs/plan.md" {
		t.Errorf("the epic names the plan %q", e.Epic.Plan)
	}
	for _, n := range e.Nodes {
		heading := fmt.Sprintf("### Sprint %s: %s", n.Key, n.Title)
		if want := "## Phase 1: Base > " + heading; n.Section != want {
			t.Errorf("section %q, want %q", n.Section, want)
		}
		at := slices.Index(lines, heading)
		if at < 0 || lines[at+1] != fmt.Sprintf("<!-- beads-ralph: %s -->", n.ID) {
			t.Errorf("no annotation of %s below %q", n.ID, heading)
		}
	}
}

// K18: an id that stands in the plan is kept, a missing one is inserted, another
// one is another id.
func TestAnnotationInsertsOnlyWhatIsMissing(t *testing.T) {
	first := compileText("# T\n\n### Sprint 1.1: A\n\n### Sprint 1.2: B\n")
	all := string(first.Results[0].Annotated)
	second := string(epicOf(t, first).Nodes[1].ID)
	if first.Results[0].Added != 2 {
		t.Fatalf("%d added", first.Results[0].Added)
	}
	out := compileText(strings.Replace(all, "<!-- beads-ralph: "+second+" -->\n", "", 1))
	if epicOf(t, out); out.Results[0].Added != 1 || string(out.Results[0].Annotated) != all {
		t.Errorf("%d added:\n%s", out.Results[0].Added, out.Results[0].Annotated)
	}
	out = compileText(strings.Replace(all, second, "bd-zzz999", 1))
	if e := epicOf(t, out); e.Nodes[1].ID != "bd-zzz999" || out.Results[0].Added != 0 {
		t.Errorf("id %s, %d added", e.Nodes[1].ID, out.Results[0].Added)
	}
}

// S0-132, S0-133, S0-148: names that git takes, in every place where a plan says
// one; a sprint starts from its own source branch, else from the plan's.
func TestBranchesOfAPlan(t *testing.T) {
	plan := func(base, branch string) string {
		return "# P\n\n**Source Branch**: " + base + "\n\n### Sprint 1.1: A\n**Branch**: " + branch + "\n### Sprint 1.2: B\n**Source Branch**: next\n"
	}
	for _, good := range []string{"main/1-2-auth", "develop/3a-2b-api", "feature/x_y"} {
		e := epicOf(t, compileText(plan("trunk", good)))
		if g := e.Nodes[0].Git; e.Epic.Base != "trunk" || g.Branch != good || g.Base != "trunk" || e.Nodes[1].Git.Base != "next" {
			t.Errorf("base %q, git %+v, then %+v", e.Epic.Base, g, e.Nodes[1].Git)
		}
	}
	for _, bad := range []string{"feat/auth api", "a..b", "x.lock", "a~1"} {
		if out := compileText(plan("trunk", bad)); !has(out, "branch-format") {
			t.Errorf("branch %q is taken:\n%s", bad, printDiags(out))
		}
		if out := compileText(plan(bad, "x")); !has(out, "branch-format") {
			t.Errorf("source branch %q is taken:\n%s", bad, printDiags(out))
		}
	}
	for _, c := range []struct{ in, want string }{{"1.2", "ralph/plan/1-2-auth"}, {"3a.2b", "ralph/plan/3a-2b-auth"}} {
		e := epicOf(t, compileText("### Sprint "+c.in+": Auth\n"))
		if got := e.Nodes[0].Git.Branch; got != c.want {
			t.Errorf("the branch of %s is %q, want %q", c.in, got, c.want)
		}
	}
}

// S0-134, S0-135: ids fit their patterns, and a sprint stands in its own phase.
func TestSprintsStandInTheirPhase(t *testing.T) {
	for _, c := range []struct{ name, plan, want string }{
		{"the phase's own sprint", "## Phase 1: A\n### Sprint 1.1: B\n", ""},
		{"a sprint of another phase", "## Phase 1: A\n### Sprint 1.1: B\n### Sprint 2.1: C\n", "phase-mismatch"},
		{"a sprint of a track in its plain phase", "## Phase 3: A\n### Sprint 3a.1: B\n", "phase-mismatch"},
		{"a sprint whose id is none", "## Phase 1: A\n### Sprint 1.1: B\n### Sprint 1.x: C\n", "malformed-id"},
		{"a phase whose id is none", "## Phase 1: A\n### Sprint 1.1: B\n## Phase 2.b!: C\n", "malformed-id"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := compileText(c.plan)
			if c.want != "" && !has(out, c.want) || c.want == "" && out.Diags.HasErrors() {
				t.Errorf("want %q:\n%s", c.want, printDiags(out))
			}
			if c.want == "phase-mismatch" && !out.Diags.HasErrors() {
				t.Error("no error")
			}
		})
	}
}

// S0-150: all mistakes of a plan and its policy in one run, each with its place.
func TestAllMistakesAreReportedAtOnce(t *testing.T) {
	out := compileWith(Options{}, "### Sprint 1.1: A\n**Depends on**: 9.9\n### Sprint 1.2: B\n**Branch**: a b\n**Depends on**: 1.2\n",
		"gate \"qa\" {\n  kind = \"agent\"\n  agent = agent.reviewer\n  output {\n    field \"message\" {}\n  }\n}\nagent \"x\" { access = \"rite\" }\n")
	want := "branch-format gate-output policy-invalid-value self-dependency unknown-dependency"
	var got []string
	for _, d := range out.Diags {
		if d.Severity.String() == "error" {
			got = append(got, string(d.Code))
			if d.Range.IsZero() {
				t.Errorf("%s has no place", d.Code)
			}
		}
	}
	slices.Sort(got)
	if text := printDiags(out); !strings.Contains(text, `did you mean "write"? Write access`) {
		t.Errorf("no suggestion for \"rite\":\n%s", text)
	}
	if s := strings.Join(got, " "); s != want {
		t.Errorf("got  %s\nwant %s\n%s", s, want, printDiags(out))
	}
}

// L0-04: what a plan review looks for is looked for by the compiler, under a code
// each: schema, patterns, cycles, agent files, clashes of worktrees, names of
// branches.
func TestThePlanReviewIsCompiled(t *testing.T) {
	for _, c := range []struct{ name, plan, policy, want string }{
		{"schema", "### Sprint 1.1: A\n", "gate \"qa\" {\n  kind = \"agent\"\n  agent = agent.reviewer\n  output_schema = { type = \"object\" }\n}\n", "gate-output"},
		{"patterns", "### Sprint 1.1: A\n### Sprint 1-x: B\n", "", "malformed-id"},
		{"cycles", "### Sprint 1.1: A\n**Depends on**: 1.2\n### Sprint 1.2: B\n", "", "dependency-cycle"},
		{"agent files", "### Sprint 1.1: A\n**Dev Agent**: .claude/agents/none.md\n", "", "agent-file"},
		{"worktrees", "### Sprint 1.1: A\n**Worktree**: ../x-worktrees/a\n### Sprint 1.2: B\n**Worktree**: ../x-worktrees/a\n", "", "worktree-clash"},
		{"branches", "### Sprint 1.1: A\n**Branch**: a..b\n", "", "branch-format"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if out := compileWith(Options{}, c.plan, c.policy); !has(out, c.want) {
				t.Errorf("no %s:\n%s", c.want, printDiags(out))
			}
		})
	}
}

// K4: state belongs to the journal: what a plan says of the progress
// of a sprint changes neither its prompt nor its digests.
func TestStateIsNoPartOfTheDefinition(t *testing.T) {
	bare := "### Sprint 1.1: A\n**Goal**: do it\n"
	want := epicOf(t, compileText(bare)).Nodes[0]
	for _, state := range []string{"**Status**: in_progress", "**Status**: blocked", "**Status**: open", "**Session ID**: s-77", "**PR**: #12", "**Progress**: half"} {
		got := epicOf(t, compileText(bare+state+"\n")).Nodes[0]
		if got.Digest != want.Digest || !slices.Equal(got.Prompt, want.Prompt) || got.Done {
			t.Errorf("%s changes the node: %v %q", state, got.Digest, got.Prompt)
		}
	}
}

// K14: a phase of the plan and a step of the workflow are two words.
func TestPhasesAreNotSteps(t *testing.T) {
	out := compileWith(Options{}, "## Phase 3a: Test\n### Sprint 3a.1: A\n**Policy**: workflow\n", "hitl { approvers = [\"ada\"] }\n")
	n := epicOf(t, out).Nodes[0]
	var steps []string
	for _, s := range n.Steps {
		steps = append(steps, s.Name)
	}
	if got := strings.Join(steps, " "); n.Phase != "3a" || got != "plan implement test review human_review" {
		t.Errorf("phase %q, steps %s", n.Phase, got)
	}
}

// K29, S0-13: labels are those that the plan wrote; what a codec makes of phase
// and key is not stored.
func TestLabelsAreThoseOfThePlan(t *testing.T) {
	e := epicOf(t, compileText("## Phase 1: P\n### Sprint 1.2: A\n**Labels**: ui, db\n### Sprint 1.3: B\n"))
	if got := fmt.Sprintf("%v %v %s %s", e.Nodes[0].Labels, e.Nodes[1].Labels, e.Nodes[0].Phase, e.Nodes[0].Key); got != "[ui db] [] 1 1.2" {
		t.Error(got)
	}
}

// S0-95, S0-96, S0-100: an answer may carry more fields, also nested ones; the schema
// stands in the epic, and its fields in the prompt.
func TestAnswersMayCarryMoreFields(t *testing.T) {
	const schema = `{"type": "object", "required": ["status", "message"], "properties": {
  "status": {"enum": ["pass", "fail", "stop"]}, "message": {"type": "string"},
  "coverage_percent": {"type": "number"},
  "test_results": {"type": "object", "properties": {"total": {"type": "integer"}, "passed": {"type": "integer"}, "failed": {"type": "integer"}}},
  "vulnerabilities": {"type": "array", "items": {"type": "object", "properties": {
    "severity": {"type": "string"}, "issue": {"type": "string"}, "file": {"type": "string"}, "line": {"type": "integer"}}}}}}`
	policy := "gate \"qa\" {\n  kind = \"agent\"\n  agent = agent.reviewer\n  output_schema = jsonfile(\"qa.json\")\n}\n" +
		"policy \"default\" {\n  default = true\n  step \"implement\" { gates = [gate.qa] }\n}\n"
	plans := map[string]string{
		"qa":       "### Sprint 1.1: A\n",
		"1.1/scan": "### Sprint 1.1: A\n**QA Agents**:\n- `scan` (opus) - look for holes\n\n```json output=scan\n" + schema + "\n```\n",
	}
	for _, name := range []string{"qa", "1.1/scan"} {
		pol := ""
		if name == "qa" {
			pol = policy
		}
		g := epicOf(t, compileWith(Options{}, plans[name], pol, "qa.json", schema)).Gates[name]
		var s struct {
			Properties struct {
				Coverage struct{ Type string } `json:"coverage_percent"`
				Holes    struct {
					Items struct {
						Properties map[string]struct{ Type string }
					}
				} `json:"vulnerabilities"`
			}
		}
		if err := json.Unmarshal(g.OutputSchema, &s); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		hole := s.Properties.Holes.Items.Properties
		if s.Properties.Coverage.Type != "number" || len(hole) != 4 || hole["line"].Type != "integer" {
			t.Errorf("%s: schema %s", name, g.OutputSchema)
		}
		prompt := strings.Join(g.Prompt, "\n")
		for _, want := range []string{`"coverage_percent" (number)`, `"test_results" (object)`, `"passed"`, `"vulnerabilities" (array)`, `"severity"`} {
			if !strings.Contains(prompt, want) {
				t.Errorf("%s: the prompt does not name %s:\n%s", name, want, prompt)
			}
		}
	}
}

// A misspelt agent would run, with other settings than those that were meant.
func TestAnAgentThatNobodyDeclaresMayBeMisspelt(t *testing.T) { // S0-150
	policy := "agent \"developer\" {\n  capabilities = \"all\"\n  access = \"write\"\n}\n"
	for name, near := range map[string]bool{"developr": true, "tester": false} {
		text := printDiags(compileWith(Options{}, "### Sprint 1.1: A\n**Dev Agents**: "+name+"\n", policy))
		if strings.Contains(text, name+": it runs with") == near || strings.Contains(text, `"developr" is almost the agent "developer"`) != near {
			t.Errorf("%s: near: %v, want %v\n%s", name, !near, near, text)
		}
	}
}

// S0-142, S0-143, S0-151: a QA agent has an agent, a model, a prompt and an
// output schema, whatever the plan leaves out; a gate of the policy does as well.
func TestQAGatesAreWhole(t *testing.T) {
	plan := "### Sprint 1.1: A\n**QA Agents**:\n- `style`\n- `tests` (haiku) - run them\n"
	e := epicOf(t, compileWith(Options{}, plan, ""))
	if got := fmt.Sprint(e.Nodes[0].Steps[0].Gates); got != "[1.1/style 1.1/tests]" {
		t.Fatalf("gates %s", got)
	}
	for name, model := range map[string]string{"1.1/style": "sonnet", "1.1/tests": "haiku"} {
		if g := e.Gates[name]; g.Kind != "agent" || g.Agent != strings.TrimPrefix(name, "1.1/") || g.Model != model || len(g.Prompt) == 0 || len(g.OutputSchema) == 0 {
			t.Errorf("%s is not whole: %+v", name, g)
		}
	}
	if out := compileWith(Options{}, plan, ""); !has(out, "no-command-gate") {
		t.Error("a sprint that only agents judge gives no warning")
	}
	gate := "gate \"unit\" {\n  kind = \"command\"\n  run = \"make\"\n}\npolicy \"default\" {\n  default = true\n  step \"implement\" { gates = [gate.unit] }\n}\n"
	if out := compileWith(Options{}, "### Sprint 1.1: A\n", gate); has(out, "no-command-gate") || fmt.Sprint(epicOf(t, out).Nodes[0].Steps[0].Gates) != "[unit]" {
		t.Errorf("the gate of the policy does not count:\n%s", printDiags(out))
	}
}

// K27: the policy of a project is ralph.hcl and policies/*.hcl, and nothing else.
func TestThePolicyOfAProject(t *testing.T) {
	gate := func(name string) string {
		return "gate \"" + name + "\" {\n  kind = \"command\"\n  run = \"make\"\n}\n"
	}
	e := epicOf(t, compileWith(Options{}, "### Sprint 1.1: A\n", "",
		"ralph.hcl", gate("a"), "policies/more.hcl", gate("b"), "other.hcl", gate("c"), ".ralph/x.hcl", gate("d"), "policies/deep/e.hcl", gate("e")))
	if got := fmt.Sprint(e.Run.Policies); got != "[policies/more.hcl ralph.hcl]" {
		t.Errorf("read %s", got)
	}
}

// K20, S0-17, S0-18: the day on which a plan is compiled changes no byte.
func TestAnEpicHoldsNoTimeOfItsMaking(t *testing.T) {
	plan := "### Sprint 1.1: A\n**Deadline**: 2026-03-01\n**Verify**: `make`\n"
	early := compileWith(Options{Now: time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)}, plan, "")
	late := compileWith(Options{Now: time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)}, plan, "")
	epicOf(t, early)
	epicOf(t, late)
	if has(early, "deadline-past") || !has(late, "deadline-past") {
		t.Fatalf("the time is not looked at:\n%s\n%s", printDiags(early), printDiags(late))
	}
	if !bytes.Equal(early.Results[0].JSON, late.Results[0].JSON) {
		t.Error(firstDifference(early.Results[0].JSON, late.Results[0].JSON))
	}
}

// S3-15: a deadline is what everybody can read, in each of its forms, and all compare
// it with the clock alike.
func TestADeadlineIsADayOrATimeWithItsZone(t *testing.T) {
	now := Options{Now: time.Date(2020, 1, 2, 15, 4, 0, 0, time.UTC)}
	for in, want := range map[string]string{ // "" is no deadline
		"2020-01-01":                "deadline-past",
		"2020-01-02T15:04Z":         "deadline-past",
		"2020-01-02T15:04:00Z":      "deadline-past",
		"2020-01-02T16:04:00+01:00": "deadline-past",
		"2020-01-02T15:05Z":         "deadline-tight",
		"2020-01-02":                "deadline-tight",
		"2020-02-31":                "label-value",
		"2020-01-02T15:04":          "label-value",
	} {
		res := compileWith(now, "### Sprint 1.1: A\n**Deadline**: "+in+"\n**Timeout**: 9h\n**Verify**: `make`\n", "")
		got := epicOf(t, res).Nodes[0].Limits.Deadline
		if !has(res, want) || (want == "label-value") != (got == "") {
			t.Errorf("%s: deadline %q, diagnostics:\n%s", in, got, printDiags(res))
		}
	}
}
