package executor

import (
	"fmt"
	"strings"

	"github.com/ralph-compiler/ralph/internal/text"
)

// Fill inserts values for "${run.name}" into a template of the epic. "$${run." is the
// text "${run."; any other "${" is left unchanged: it is the shell's. A name unknown to
// value is an error.
func Fill(template string, value func(name string) (string, bool)) (string, error) {
	const open = "${run."
	var b strings.Builder
	for {
		i := strings.Index(template, open)
		if i < 0 {
			b.WriteString(template)
			return b.String(), nil
		}
		if i > 0 && template[i-1] == '$' {
			b.WriteString(template[:i-1] + open)
			template = template[i+len(open):]
			continue
		}
		end := strings.IndexByte(template[i:], '}')
		if end < 0 {
			return "", fmt.Errorf("the template %q does not end: close it with }", text.Head(template[i:], 60))
		}
		name := template[i+len(open) : i+end]
		v, ok := value(name)
		if !ok {
			return "", fmt.Errorf("run.%s is not known here", text.Head(name, 60))
		}
		b.WriteString(template[:i] + v)
		template = template[i+end+1:]
	}
}
