package compiler

import (
	"fmt"
	"io/fs"
	"time"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/policies"
)

// Source is a file as it was read. Path is relative to the project, with
// forward slashes.
type Source struct {
	Path  string
	Bytes []byte
}

// Input is everything that a compile reads.
type Input struct {
	Plans   []Source
	Imports []Imported
	Policy  []Source               // from --policy; nil: the plan's `policies`, else ralph.hcl and policies/*.hcl of Project
	Project fs.FS                  // confined to the project root; nil: no file exists
	Dir     string                 // where the project is, with forward slashes: the place of a plan may tell which tool wrote it; "": unknown
	Past    func(ir.Header) Past   // what is on record of an epic that has items without an id in its plan; nil: nothing
	Taken   func(*ir.Epic) []Taken // names of an epic that someone else has; nil: none
	Texts   func()                 // called once, before the epics' texts are made, and not if there is an error; nil: nothing
	Options Options
}

// Past is what the clone in which a plan is compiled knows of its epic. It gives
// diagnostics, and says which ids are not fresh; it never changes other bytes.
type Past struct {
	Journal  map[ir.NodeID]string        // ids that something is on record about, and what they were called: `1.2a "Title"`, or ""
	Replaced map[ir.NodeID]string        // ids of the epic.json that is replaced, and their titles
	Fate     func() map[ir.NodeID]string // what became of them, of those whose id hands something on: "done", "skipped"; may be nil
	Unknown  string                      // why the journal could not be read, a sentence; "" if it could
}

// Taken is a name that nodes need and that is taken by others in the clone in which a plan
// is compiled. It gives a warning and changes no byte.
type Taken struct {
	Nodes []ir.NodeID // another id is that of the sum of all results
	What  string      // the fact, a clause
	Ways  []string    // what to do about it, one of these
}

// Options are the values of flags; they win over plan and policy.
type Options struct {
	Dialect       string            // name of a dialect, or "task:PR,Unit"; "" is the plan's or the policy's choice
	Recorded      string            // the same, as an earlier compile recorded it: for plans that nothing else names a dialect for
	Vars          map[string]string // --var
	Complexity    string            // level of every node; "" detects it
	MaxIterations int               // of every step that writes; 0 keeps the compiled number
	PR            string            // none, plan, node; "" keeps the policy's choice
	FreshIDs      []string          // keys of items that get an id which nothing is on record about
	SameIDs       []string          // keys of items that keep the id which they get, whatever is on record about it
	NoAnnotate    bool              // the ids will not be written into the plans
	Strict        bool              // warnings that the table names become errors
	Version       string            // of ralph, for `ralph { required }`
	Now           time.Time         // for warnings about deadlines, never for bytes; zero: no such warnings
	Limits        Limits
}

// Output is the output of a compile. Diags is sorted. If it holds an error, results have
// neither Epic nor bytes.
type Output struct {
	Results []Result
	Diags   diag.List
	Files   map[string]*diag.File // all sources by name, for snippets
}

// Result is the result of one plan.
type Result struct {
	Plan      string
	Epic      *ir.Epic
	JSON      []byte // canonical bytes of Epic
	Annotated []byte // the plan with ids; the same bytes if there is nothing to add
	Unnamed   bool   // neither plan nor policy names the dialect that it was read in: compile needs --dialect
	Added     int    // ids added, the epic's own not counted
	Trace     *Trace // why values are what they are; nil if the plan could not be read
}

// pass is one step from draft to epic.
type pass struct {
	name string
	// run returns the epic of the pass. Beside it a pass writes only the crew, and the
	// seal the ids.
	run func(b *build, diags *diag.List) *ir.Epic
	// holds are the places of epic.json for which ir.Verify must have no
	// complaint from this pass on.
	holds []string
}

// passes is the order of work. A pass gets the epic of the pass before, leaves
// it unchanged and returns its own, which may lie where an earlier one was. The crew remembers which agents it found.
var passes = []pass{
	// First: everything else may rely on nodes and edges. What is cyclic was
	// reported by the dependency engine.
	{"graph", (*build).passGraph, []string{"ir", "epic.slug", "epic.plan", "nodes.key", "nodes.after", "nodes.merges", "nodes.scope"}},
	// Before steps: they differ by kind, complexity and policy, all of which
	// resolve.go has settled; here they enter the epic.
	{"steps", (*build).passSteps, []string{"nodes.steps.name", "nodes.steps.gate_mode", "nodes.steps.next"}},
	// After steps, which say what is wanted; before gates, whose agents are chosen
	// with those that do the work in view.
	{"agents", (*build).passAgents, nil},
	// After agents: a plan's agents split the work step, and its gates are on the
	// last part.
	{"gates", (*build).passGates, []string{"nodes.steps.gates"}},
	// After agents: an agent's multiplier is part of every timeout.
	{"limits", (*build).passLimits, []string{"nodes.steps.limits", "nodes.limits", "nodes.complexity", "epic.complexity"}},
	// Names of branches and worktrees need nothing but the draft; they are
	// late so that templates may use what was decided.
	{"git", (*build).passGit, []string{"nodes.git"}},
	// After gates: the sum of all results is judged by the gates of its parts.
	{"integration", (*build).passIntegration, []string{"epic.integration", "run"}},
	// After integration: the sum may have gates that are no node's.
	{"sandboxes", (*build).passSandboxes, []string{"sandboxes", "nodes.steps.sandbox"}},
	// After everything that names an agent: the tables hold what is used, nothing else.
	{"tables", (*build).passTables, []string{"agents", "runners", "gates", "nodes.steps.agent", "nodes.steps.fallback"}},
	// After everything that a prompt contains.
	{"prompts", (*build).passPrompts, []string{"nodes.prompt"}},
	// Rules see the whole epic, as it will be reviewed.
	{"rules", (*build).passRules, []string{"waivers"}},
	// Lints too; they come last because rules are the user's own words.
	{"lints", (*build).passLints, nil},
	// At the very end: ids, order and digests depend on all of it.
	{"seal", (*build).passSeal, []string{""}},
}

// Compile turns plans into epics. It never panics on bad input: all mistakes are in
// Output.Diags, in one run.
func Compile(in Input) Output {
	c := newCompilation(in)
	for _, src := range in.Plans {
		if u := c.open(src); u != nil {
			c.builds = append(c.builds, newBuild(u))
		}
	}
	for _, d := range in.Imports {
		if u := c.openImported(d); u != nil {
			c.builds = append(c.builds, newBuild(u))
		}
	}
	for _, b := range c.builds {
		b.run(&c.diags)
	}
	c.sayDialects()
	c.checkTogether()
	if in.Options.Strict || c.strict {
		c.diags = c.diags.Strict()
	}
	return c.output()
}

// output seals, verifies and encodes what has no error.
func (c *compilation) output() Output {
	if !c.diags.HasErrors() {
		for _, b := range c.builds {
			b.pass(passes[len(passes)-1], &c.diags)
		}
	}
	for _, b := range c.builds {
		b.old = nil // a trace keeps the build
	}
	c.diags.Sort()
	c.diags.Cap()
	out := Output{Diags: c.diags, Files: c.files}
	failed := c.diags.HasErrors()
	if c.in.Texts != nil && !failed {
		c.in.Texts()
	}
	for _, b := range c.builds {
		r := Result{Plan: b.source.Path, Trace: traceOf(b), Unnamed: b.unnamed()}
		if !failed {
			mustHold(passes[len(passes)-1].name, b.epic.Verify())
			text, err := ir.Encode(b.epic)
			if err != nil {
				panic(fmt.Sprintf("compiler: encode: %v", err))
			}
			r.Epic, r.JSON = b.epic, text
			r.Annotated, r.Added = b.annotate(b.ids)
		}
		out.Results = append(out.Results, r)
	}
	return out
}

// unnamed reports whether neither the plan nor the policy names its dialect.
func (u *unit) unnamed() bool {
	return u.tree != nil && !u.tree.FrontMatter.Dialect.Set() && !u.set.Ralph.Dialect.Set && u.spec != policies.DefaultDialect
}

// mustHold panics when an epic that ralph made breaks an invariant: a bug in
// the pass, not in the input.
func mustHold(name string, breaches []error) {
	if len(breaches) > 0 {
		panic(fmt.Sprintf("compiler: after pass %s: %v", name, breaches[0]))
	}
}

// clip shortens what is quoted in a summary.
func clip(s string) string {
	const most = 24
	return text.Shorten(s, most)
}
