package gate

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/regular"
)

// Compiles judges a plan by what the compiler says about it. It may be used
// concurrently.
type Compiles struct {
	// Check compiles the plan that r.Gate names, as it is at r.Dir. It is the
	// application's: this package knows no compiler.
	Check func(ctx context.Context, r executor.GateRun) (PlanReport, error)
}

// PlanReport is what a compiler says about a plan.
type PlanReport struct {
	Found []PlanFinding
	Note  string // a line before them, such as where a part of the judgement comes from; mostly empty
}

// PlanFinding is one thing that it says.
type PlanFinding struct {
	Code    string
	Text    string // as a person sees it: what is wrong, the place, what to write instead
	Warning bool   // the plan may be applied all the same
}

var _ executor.Gate = Compiles{}

// Judge implements executor.Gate. What was found is the message, as much of it as a
// verdict holds; all of it is in a file of the attempt. Warnings fail nothing: they are
// told together with errors in the last attempt but one, so that the last one mends both.
func (c Compiles) Judge(ctx context.Context, r executor.GateRun) (executor.GateJudged, error) {
	out := executor.GateJudged{Gate: r.Name, Verdict: executor.Pass, Tests: "skip"}
	begun := time.Now()
	report, err := c.Check(ctx, r)
	out.Millis = time.Since(begun).Milliseconds()
	if ctx.Err() != nil {
		return out, ctx.Err()
	}
	if err != nil {
		out.Verdict, out.Message = executor.ErrorJudged, executor.Clip(clean(err.Error()), executor.MaxNote)
		return out, nil
	}
	errors, warnings := split(report.Found)
	if len(errors) == 0 {
		return out, nil
	}
	out.Verdict = executor.Fail
	var codes []string
	for _, f := range errors {
		codes = append(codes, f.Code)
	}
	out.Signature = signText(strings.Join(codes, "\n"))
	if r.Step == nil || r.Effect.Attempt != r.Step.Limits.Attempts-1 {
		warnings = nil
	}
	found := append(errors, warnings...)
	path := filepath.Join(r.Files, turn(r)+".txt")
	if err := regular.MkdirOwn(r.Files); err != nil {
		return out, err
	}
	var all strings.Builder
	for _, f := range found {
		all.WriteString(strings.TrimRight(f.Text, "\n") + "\n\n")
	}
	if _, err := keep(path, []byte(all.String()), r.Redact); err != nil {
		return out, err
	}
	out.Message = planMessage(report.Note, path, errors, warnings)
	bound(&out)
	return out, nil
}

// roomFound is how many bytes of findings a verdict tells.
const roomFound = 2600

// planMessage tells the first findings, how many there are, and where all of them stand.
func planMessage(note, path string, errors, warnings []PlanFinding) string {
	var texts []string
	room := roomFound
	for _, f := range slices.Concat(errors, warnings) {
		text := strings.TrimRight(f.Text, "\n")
		if len(texts) > 0 && len(text) > room {
			break
		}
		texts = append(texts, executor.Clip(text, roomFound))
		room -= len(text)
	}
	head := "The plan does not compile: " + plural(len(errors), "error")
	if len(warnings) > 0 {
		head += " and " + plural(len(warnings), "warning")
	}
	head += " (" + strings.Join(someCodes(errors), ", ") + ")."
	if n := len(texts); n < len(errors)+len(warnings) {
		head += fmt.Sprintf("\nThe first %d are here, all of them in %s", n, path)
	}
	if note != "" {
		head += "\n" + note
	}
	return head + "\n\n" + strings.Join(texts, "\n\n")
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

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

func split(found []PlanFinding) (errors, warnings []PlanFinding) {
	for _, f := range found {
		if f.Warning {
			warnings = append(warnings, f)
		} else {
			errors = append(errors, f)
		}
	}
	return errors, warnings
}
