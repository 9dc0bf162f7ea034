//go:build unix

package view

import (
	"slices"
	"testing"
)

func TestEditorsAreToldTheLineInTheirWay(t *testing.T) { // S0-111
	for editor, want := range map[string][]string{
		"vi":                       {"+14", "/p/plan.md"},
		"/usr/bin/nvim -n":         {"+14", "/p/plan.md"},
		"code --wait":              {"-g", "/p/plan.md:14"},
		"'/opt/my editors/subl'":   {"/p/plan.md"},
		`"/usr/local/bin/subl"`:    {"/p/plan.md:14"},
		"idea":                     {"--line", "14", "/p/plan.md"},
		"an-editor-nobody-knows":   {"/p/plan.md"},
		"emacsclient -nw -a emacs": {"+14", "/p/plan.md"},
	} {
		if got := editorArgs(editor, "/p/plan.md", 14); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", editor, got, want)
		}
	}
	if got := editorArgs("vi", "/p/plan.md", 0); !slices.Equal(got, []string{"/p/plan.md"}) {
		t.Errorf("without a line: %q", got)
	}
}
