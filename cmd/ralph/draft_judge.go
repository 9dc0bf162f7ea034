package main

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/gate"
	"github.com/ralph-compiler/ralph/internal/columns"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/ir"
)

// planJudge judges the plans of a draft.
type planJudge struct{ draft *ir.Epic }

// check is what a gate of kind compiles asks: the plan of a commit, compiled with the
// policy of that commit, and what else a drafted plan has to be.
func (j planJudge) check(ctx context.Context, r executor.GateRun) (report gate.PlanReport, err error) {
	p, err := openProject(filepath.Join(r.Dir, filepath.FromSlash(r.Gate.Plan)))
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	st, err := os.Lstat(filepath.Join(r.Dir, filepath.FromSlash(r.Gate.Plan)))
	if errors.Is(err, fs.ErrNotExist) || err == nil && !st.Mode().IsRegular() {
		none := diag.New("draft-no-plan", diag.Range{}, "there is no plan").
			WithDetail("There is no file %s, or it is a link. Write the plan there.", r.Gate.Plan)
		return gate.PlanReport{Says: "There is no plan", Found: findings(diag.List{none}, nil)}, nil
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
	found, err := checkDrafted(ctx, out, p, r.Node.Acceptance, was)
	if err != nil {
		return report, err
	}
	says := "The plan does not compile"
	if !out.Diags.HasErrors() {
		says = "The plan compiles and is not ready"
	}
	return gate.PlanReport{Says: says, Found: findings(found, out.Files)}, nil
}

// compilePlan compiles the text of a plan with the policy of a project.
func compilePlan(p *project, plan string, text []byte) compiler.Output {
	return compiler.Compile(compiler.Input{
		Plans: []compiler.Source{{Path: plan, Bytes: text}}, Project: p.FS(), Options: compiler.Options{Version: version()},
	})
}

// findings are the errors of a list, and as warnings what --strict makes an error, as a
// person sees them.
func findings(list diag.List, files map[string]*diag.File) (out []gate.PlanFinding) {
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
