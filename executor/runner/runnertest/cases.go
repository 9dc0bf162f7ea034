package runnertest

import (
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/modeltest"
)

// cases are all cases of an agent, in the order in which people read them.
func cases(a Agent) []Case {
	var out []Case
	for _, group := range [][]Case{outcomes(), sessions(), failures(a), processes(), access(a), end()} {
		out = append(out, group...)
	}
	return out
}

type (
	steps = []modeltest.Step
	obj   = map[string]any
)

func needs(c ...executor.Capability) []executor.Capability { return c }

// do is a step that calls tools.
func do(actions ...modeltest.Action) modeltest.Step { return modeltest.Step{Do: actions} }

func say(text string) modeltest.Step { return modeltest.Step{Text: text} }

// well are steps, and then a report of success and a last word.
func well(first ...modeltest.Step) steps {
	return append(first, do(modeltest.Report(obj{"result": "success", "summary": "It is done."})), say("All done."))
}

// broken is a first step that fails for ever.
func broken(f modeltest.Fault) [][]modeltest.Step {
	return [][]modeltest.Step{{{Fault: &f}}}
}

// endless are steps in which a tool runs for ever. Some programs let their model
// go on beside a tool that takes long: then the model is silent.
func endless() steps {
	return steps{do(modeltest.Bash(tool)), {Fault: &modeltest.Fault{Kind: modeltest.Hang}}}
}

// patient is how long something may take of which the program may be silent at first.
func (s *stage) patient() time.Duration { return 3 * s.agent.Quiet }
