package policies

import (
	"encoding/json"

	"github.com/ralph-compiler/ralph/diag"
)

// Gate is the block `gate "n"`: something that judges an attempt.
type Gate struct {
	Decl
	Kind         Value[string] // command, agent, review, human, outcome
	Run          Value[string] // shell command; may hold ${run.…}
	Env          Value[map[string]string]
	Expect       Expect
	Agent        Value[string]
	Capabilities Value[[]string] // instead of an agent by name
	Tags         Value[[]string]
	Model        Value[string]
	Prompt       Value[string]          // may hold ${run.…}
	Sees         Value[[]string]        // acceptance, diff, …
	InputSchema  Value[json.RawMessage] // compact, keys sorted
	OutputSchema Value[json.RawMessage] // compact, keys sorted; of agent and review gates always there
	Promise      Value[string]
	NoErrors     Value[bool]
	Approvers    Value[[]string]
	OnTimeout    Value[string] // fail, stop
	TimeoutMS    Value[int64]  // the kind's default if not Set; 0: none
	OnFailure    Value[string] // retry, stop, continue
	Protect      Value[[]string]
	ProtectNew   Value[bool]
	Evidence     Value[bool]
	RedFirst     Value[bool]

	Dynamic bool       // mentions node.*: use For
	Files   []FileRead // filled by For for a dynamic gate

	source *source
}

// Expect says what a command must do for its gate to pass.
type Expect struct {
	ExitCode       Value[int]
	StdoutContains Value[string]
	StderrContains Value[string]
	Range          diag.Range
}
