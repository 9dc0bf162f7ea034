package ir

import (
	"strings"
	"testing"
)

func TestVerifyRefusesWhatOtherProgramsMisread(t *testing.T) {
	for name, change := range map[string]func(*Epic){
		"option":  func(e *Epic) { e.Nodes[0].Git.Branch = "--upload-pack=x" },
		"base":    func(e *Epic) { e.Epic.Base = "--output=x" },
		"sum":     func(e *Epic) { e.Epic.Integration.Branch = "-x" },
		"control": func(e *Epic) { e.Nodes[0].Git.Branch = "a\nb" },
		"NUL":     func(e *Epic) { e.Run.Worktree.Env = map[string]string{"A": "x\x00y"} },
	} {
		e := sample()
		change(e)
		v := &verifier{e: e}
		v.safe()
		if len(v.errs) != 1 || strings.Contains(v.errs[0].Error(), "\x00") {
			t.Errorf("%s: got %v", name, v.errs)
		}
	}
}
