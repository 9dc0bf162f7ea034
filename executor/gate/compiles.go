package gate

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/text"
)

// Compiles judges a plan by the compiler's report. It may be used concurrently.
type Compiles struct {
	// Check compiles the plan that r.Gate names, as it is at r.Dir. It is the
	// application's: this package knows no compiler.
	Check func(ctx context.Context, r executor.GateRun) (PlanReport, error)
}

// PlanReport is a compiler's report on a plan.
type PlanReport struct {
	Found []PlanFinding
	Says  string // what errors among them come to, such as "The plan does not compile"
}

// PlanFinding is one finding of a PlanReport.
type PlanFinding struct {
	Code    string
	Text    string // as a person sees it: what is wrong, the place, what to write instead
	Warning bool   // the plan may be applied all the same
}

var _ executor.Gate = Compiles{}

// Judge implements executor.Gate. The message is the findings, as far as they fit into a
// verdict; all are in a file of the attempt. Warnings fail nothing: they are reported with
// the errors of the last attempt but one, so that the last one can fix both.
func (c Compiles) Judge(ctx context.Context, r executor.GateRun) (executor.GateJudged, error) {
	out := executor.GateJudged{Gate: r.Name, Verdict: executor.Pass, Tests: "skip"}
	begun := time.Now()
	report, err := c.Check(ctx, r)
	out.Millis = time.Since(begun).Milliseconds()
	if ctx.Err() != nil {
		return out, ctx.Err()
	}
	if err != nil {
		out.Verdict, out.Message = executor.ErrorJudged, text.Head(clean(err.Error()), executor.MaxNote)
		return out, nil
	}
	errors, warnings := split(report.Found)
	if len(errors) == 0 {
		return out, nil
	}
	out.Verdict = executor.Fail
	codes := lists.Map(errors, func(f PlanFinding) string { return f.Code })
	out.Signature = signText(strings.Join(codes, "\n"))
	if r.Left != 1 {
		warnings = nil
	}
	found := append(errors, warnings...)
	path := filepath.Join(r.Files, turn(r)+".txt")
	if err := regular.MkdirOwn(r.Files); err != nil {
		return out, err
	}
	texts := lists.Map(found, func(f PlanFinding) string { return strings.TrimRight(f.Text, "\n") + "\n\n" })
	if _, err := keep(path, []byte(strings.Join(texts, "")), r.Redact); err != nil {
		return out, err
	}
	for room := executor.MaxNote; room > 0; room = room * 3 / 4 { // what JSON escapes takes more room than it has bytes
		if out.Message = planMessage(report.Says, path, errors, warnings, room); out.Fits() {
			break
		}
	}
	return out, nil
}

// planMessage is the number of findings, the first of them, and where all of them
// are, in at most room bytes.
func planMessage(says, path string, errors, warnings []PlanFinding, room int) string {
	head := says + ": " + text.Count(len(errors), "error")
	if len(warnings) > 0 {
		head += " and " + text.Count(len(warnings), "warning")
	}
	found := slices.Concat(errors, warnings)
	head += " (" + strings.Join(someCodes(found), ", ") + ")."
	texts := lists.Map(found, func(f PlanFinding) string { return "\n\n" + strings.TrimRight(f.Text, "\n") })
	if all := head + strings.Join(texts, ""); len(all) <= room {
		return all
	}
	here, n := fmt.Sprintf("The first %d are here, all of them in %s", len(texts), path), 0
	for left := room - len(head) - len(here) - 1; len(texts[n]) <= left; n++ { // not all fit: all is longer
		left -= len(texts[n])
	}
	switch {
	case n > 0:
		here = fmt.Sprintf("The first %d are here, all of them in %s", n, path)
	case len(texts) > 1:
		here, n = "Of the first the beginning is here, all of them in "+path, 1
	default:
		here, n = "Its beginning is here, all of it in "+path, 1
	}
	return text.Head(head+"\n"+here+strings.Join(texts[:n], ""), room)
}

// someCodes are the first codes of a list, each once.
func someCodes(found []PlanFinding) (out []string) {
	for _, f := range found {
		if slices.Contains(out, f.Code) {
			continue
		}
		if len(out) == 3 {
			return append(out, "…")
		}
		out = append(out, f.Code)
	}
	return out
}

func split(found []PlanFinding) (errors, warnings []PlanFinding) {
	warning := func(f PlanFinding) bool { return f.Warning }
	return slices.DeleteFunc(slices.Clone(found), warning), lists.Keep(found, warning)
}
