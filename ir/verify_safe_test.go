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
		"lock":    func(e *Epic) { e.Nodes[0].Git.Branch = "a.lock/b" },
		"reflog":  func(e *Epic) { e.Epic.Target = "a@{1}" },
		"HEAD":    func(e *Epic) { e.Nodes[0].Git.Base = "HEAD" },
		"dot":     func(e *Epic) { e.Epic.Base = "a." },
		"C1":      func(e *Epic) { e.Epic.Base = "a\u009bb" },
		"tilde":   func(e *Epic) { e.Epic.Base = "main~1" },
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
