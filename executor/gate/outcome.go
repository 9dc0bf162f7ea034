package gate

import (
	"context"
	"fmt"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/text"
)

// Outcome judges the agent's own report. That is a claim: the step's other gates run
// all the same. It may be used concurrently.
type Outcome struct{}

var _ executor.Gate = Outcome{}

// Judge implements executor.Gate: the promise must have been given in exactly these
// words, and with no_errors no error may have been reported. A missing or unreadable
// outcome is an error.
func (Outcome) Judge(ctx context.Context, r executor.GateRun) (executor.GateJudged, error) {
	out := executor.GateJudged{Gate: r.Name, Verdict: executor.Fail, Tests: "skip"}
	o := r.Outcome
	switch {
	case ctx.Err() != nil:
		return out, ctx.Err()
	case o.Invalid != "":
		out.Verdict, out.Message = executor.ErrorJudged, "the agent's outcome cannot be read: "+o.Invalid
	case r.Gate.Promise == "" && !r.Gate.NoErrors:
		out.Verdict, out.Message = executor.ErrorJudged, "the gate asks for neither a promise nor no_errors"
	case r.Gate.Promise != "" && !equal(o.Promise, r.Gate.Promise):
		out.Message = fmt.Sprintf("the agent did not end with <promise>%s</promise>", r.Gate.Promise)
		if o.Promise != "" {
			out.Message += fmt.Sprintf(", but with <promise>%s</promise>", o.Promise)
		}
	case r.Gate.NoErrors && len(o.Errors) > 0:
		out.Message = "the agent reported errors:\n- " + strings.Join(o.Errors, "\n- ")
	case r.Gate.NoErrors && (o.Result == "failed" || o.Fatal):
		out.Message = "the agent reported failure: " + o.Summary
	default:
		out.Verdict = executor.Pass
	}
	out.Message = text.Head(clean(out.Message), executor.MaxNote)
	if out.Verdict == executor.Fail {
		out.Signature = signText(out.Message)
	}
	return out, nil
}

// equal compares texts without regard to spacing.
func equal(a, b string) bool { return text.OneLine(a) == text.OneLine(b) }
