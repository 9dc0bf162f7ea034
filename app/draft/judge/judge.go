package judge

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/app/draft/rules"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/gate"
	"github.com/ralph-compiler/ralph/internal/columns"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/version"
	"github.com/ralph-compiler/ralph/ir"
)

// Drafted judges the plans of a draft.
type Drafted struct{ Epic *ir.Epic }

// Check is the check of a gate of kind compiles: the plan of a commit, compiled with the
// policy of that commit, and the further rules for a drafted plan.
func (j Drafted) Check(ctx context.Context, r executor.GateRun) (report gate.PlanReport, err error) {
	p, err := project.Open(filepath.Join(r.Dir, filepath.FromSlash(r.Gate.Plan)))
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	st, err := os.Lstat(filepath.Join(r.Dir, filepath.FromSlash(r.Gate.Plan)))
	if errors.Is(err, fs.ErrNotExist) || err == nil && !st.Mode().IsRegular() {
		none := diag.New("draft-no-plan", diag.Range{}, "there is no plan").
			WithDetail("There is no file %s, or it is a link. Write the plan there.", r.Gate.Plan)
		return gate.PlanReport{Says: "There is no plan", Found: Findings(diag.List{none}, nil)}, nil
	}
	plan, err := fs.ReadFile(p.FS(), r.Gate.Plan)
	if err != nil {
		return report, err
	}
	out := compilePlan(p, r.Gate.Plan, plan)
	was, err := j.before(ctx, p)
	if err != nil {
		return report, err
	}
	found, err := CheckDrafted(ctx, out, p, r.Node.Acceptance, was)
	if err != nil {
		return report, err
	}
	says := "The plan does not compile"
	if !out.Diags.HasErrors() {
		says = "The plan compiles, but is not ready"
	}
	return gate.PlanReport{Says: says, Found: Findings(found, out.Files)}, nil
}

// compilePlan compiles the text of a plan with the policy of a project.
func compilePlan(p *project.Project, plan string, text []byte) compiler.Output {
	return compiler.Compile(compiler.Input{
		Plans: []compiler.Source{{Path: plan, Bytes: text}}, Project: p.FS(), Options: compiler.Options{Version: version.Ralph()},
	})
}

// Findings are the errors of a list, and as warnings those that --strict makes errors, as
// a person sees them.
func Findings(list diag.List, files map[string]*diag.File) (out []gate.PlanFinding) {
	for i, strict := range list.Strict() {
		d := list[i]
		if strict.Severity != diag.Error {
			continue
		}
		d.Severity = min(d.Severity, diag.Warning) // a note is counted as one, so it is shown as one
		var b bytes.Buffer
		one := diag.List{d}
		_ = diag.Text{Files: files, Clean: reveal.Words, Width: columns.Of}.Write(&b, one) // of a buffer
		text := strings.TrimSuffix(strings.TrimSpace(b.String()), diag.Summary(one))
		out = append(out, gate.PlanFinding{Code: string(d.Code), Text: strings.TrimRight(text, "\n"), Warning: d.Severity != diag.Error})
	}
	return out
}

// CheckDrafted is the compiler's report on a plan, and that of the further rules, as far as
// it could be read; was is the plan that it changes, nil if it is new.
func CheckDrafted(ctx context.Context, out compiler.Output, p *project.Project, brief []string, was *PlanBefore) (diag.List, error) {
	if len(out.Results) == 0 { // it has no sprints, or is unreadable
		return out.Diags, nil
	}
	res := out.Results[0]
	c := rules.Compiled{
		Epic: res.Epic, File: out.Files[res.Plan], Places: res.Trace.Places(), New: res.Trace.New(), Wish: strings.Join(brief, "\n"), Bounds: rules.BoundsOf(res.Trace.Policy()),
		Now: IdentitiesOf(out.Files[res.Plan]),
	}
	c.Paths, c.Partial = pathsIn(p.FS(), mostPaths)
	c.Errors = lists.Keep(out.Diags, func(d diag.Diagnostic) bool { return d.Severity == diag.Error })
	var again map[ir.NodeID]string
	if res.Epic == nil {
		c.Epic = res.Trace.Lowered()
	} else if was != nil {
		var err error
		if again, err = againWith(ctx, res.Epic); err != nil {
			return nil, err
		}
	}
	var more diag.List
	if was == nil {
		more = rules.Check(c)
	} else {
		more = rules.CheckRevised(rules.Revised{Compiled: c, Was: was.Was, Asked: c.Wish, Again: again})
	}
	found := append(slices.Clone(out.Diags), more...)
	found.Sort()
	return found, nil
}

// mostPaths bounds how many files of a project scopes are held against.
const mostPaths = 200_000

// pathsIn lists the files of a project; partial says that there are more than most.
func pathsIn(project fs.FS, most int) (out []string, partial bool) {
	_ = fs.WalkDir(project, ".", func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil: // what cannot be read cannot be worked on either
			return nil
		case e.IsDir() && e.Name() == ".git":
			return fs.SkipDir
		case e.IsDir():
		case len(out) == most:
			partial = true
			return fs.SkipAll
		default:
			out = append(out, path)
		}
		return nil
	})
	return out, partial
}
