package gate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/condition"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// required holds a pass against what the gate requires of one: it is a fail that says
// which fields are otherwise. A field that is missing or has another type is an error,
// as is all that does not fit the schema.
func required(v verdict, g ir.Gate) (verdict, error) {
	var broken, unfit []string
	for _, name := range slices.Sorted(maps.Keys(g.Require)) {
		c, err := condition.Parse(g.Require[name])
		if err != nil {
			return v, fmt.Errorf("the condition on %q cannot be read: %w", name, err)
		}
		f, _ := condition.Find(schemaText(g), name)
		field := f.In(v.raw)
		switch ok, err := c.Holds(field); {
		case field == nil:
			unfit = append(unfit, fmt.Sprintf("%s is missing, and the gate requires that it is %s", f.Path(), c))
		case err != nil:
			unfit = append(unfit, fmt.Sprintf("%s is %s, and %v", f.Path(), text.Head(string(field), 60), err))
		case !ok:
			broken = append(broken, fmt.Sprintf("%s is %s, and the gate requires %s", f.Path(), text.Head(string(field), 60), c))
		}
	}
	if len(unfit) > 0 {
		return v, fmt.Errorf("a pass needs what the gate requires: %s", strings.Join(unfit, "; "))
	}
	if len(broken) > 0 {
		v.status = executor.Fail
		v.message = strings.Join(broken, "\n") + "\n" + v.message
	}
	return v, nil
}
