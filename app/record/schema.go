package record

import "github.com/ralph-compiler/ralph/internal/jsonschema"

// Versions of the commands' --json output. A version goes up when a field is removed or
// changes its meaning, never when one is added.
const (
	// 2, of show, plan and monitor too: the hosts that a sandbox refused are objects.
	statusVersion  = 2
	ShowVersion    = 2
	ChangeVersion  = 1
	BeadVersion    = 1
	PlanVersion    = 2
	MonitorVersion = 2
	RunsVersion    = 1
)

// Schemas are the JSON Schemas of the commands' --json output, by their names in
// `ralph schema`.
var Schemas = map[string]func() []byte{
	"status":    schemaOf[StatusJSON]("ralph status --json", statusVersion),
	"show":      schemaOf[ShowJSON]("ralph show KEY --json", ShowVersion),
	"show-diff": schemaOf[ChangeJSON]("ralph show KEY --diff --json", ChangeVersion),
	"show-bead": schemaOf[BeadJSON]("ralph show BEAD --json, of a bead that is in no epic here", BeadVersion),
	"plan":      schemaOf[PlanJSON]("ralph plan --json", PlanVersion),
	"runs":      schemaOf[RunsJSON]("ralph runs --json", RunsVersion),
	"monitor":   schemaOf[MonitorJSON]("ralph monitor --json", MonitorVersion),
}

func schemaOf[T any](command string, version int) func() []byte {
	return func() []byte {
		b, err := jsonschema.Of[T](command, "Fields may be added without a new version.", version)
		if err != nil {
			panic(err) // a type that has none: a test makes them all
		}
		return b
	}
}
