package shepherd

import (
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/diag"
)

// A key that is misspelt is named in the run in which the right one is missing, and a
// file that is something else is told what it has to be.
func TestMistakesOfAFileAreSaidInOneRun(t *testing.T) { // S0-150
	for _, c := range []struct {
		name, text string
		want       []string // parts of the messages, sorted by place
	}{
		{"misspelt", "policies:\n  a:\n    name: a\n    phazes: []\n", []string{"policies.a.phases is the list", "policies.a.phazes. They are comments"}},
		{"a text", "hello\n", []string{"The file has to be Agent Shepherd's configuration"}},
		{"an alias", "a: &a [x]\npolicies: *a\n", []string{"Read as YAML: aliases are not read. Write the value out"}},
	} {
		_, list := Convert([]*diag.File{diag.NewFile("policies.yaml", []byte(c.text))}, Options{})
		var said []string
		for _, d := range list {
			said = append(said, d.Detail)
		}
		if !slices.EqualFunc(said, c.want, strings.Contains) {
			t.Errorf("%s: it says %q, want %q", c.name, said, c.want)
		}
	}
}
