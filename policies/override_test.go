package policies

import (
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/diag"
)

// S4-30
func TestOverrideKnowsItsWords(t *testing.T) {
	for name, c := range map[string]struct {
		src, word, says string
	}{
		"a word of the list":                   {`ralph { override = ["timeout"] }`, "timeout", ""},
		"a label as plans write it":            {`ralph { override = ["Source Branch", "Dev Agents"] }`, "source_branch", ""},
		"a label that is always free":          {`ralph { override = ["lane"] }`, "lane", ""},
		"nothing at all":                       {`ralph { override = [] }`, "", ""},
		"a misspelt word names the nearest":    {`ralph { override = ["timout"] }`, "", `did you mean "timeout"`},
		"a word that is none lists the others": {`ralph { override = ["xyzzy"] }`, "", "it is one of access, agent"},
	} {
		t.Run(name, func(t *testing.T) {
			s, diags := Decode(Input{Files: []*diag.File{diag.NewFile("ralph.hcl", []byte(c.src))}})
			if c.says == "" {
				if len(diags) > 0 || c.word != "" && !slices.Contains(s.Ralph.Override.V, c.word) {
					t.Fatalf("%v, override %v", diags, s.Ralph.Override.V)
				}
				return
			}
			if len(diags) != 1 || !strings.Contains(diags[0].Detail, c.says) {
				t.Fatalf("got %+v, want a detail with %q", diags, c.says)
			}
		})
	}
}
