package shellword

import (
	"os/exec"
	"testing"
)

var hostile = []string{
	"", "a", "a b", "$(touch pwn)", "`touch pwn`", "a;touch pwn", "it's", `a"b`, `a\b`, "a\nb", "-x", "~", "#x", "!x", "=ls", "*", "{a,b}", "a&b|c>d<e", "(x)", "é", "<U+202E>",
}

func TestAShellReadsAWordAsItIs(t *testing.T) {
	for _, s := range hostile {
		cmd := exec.Command("sh", "-c", "printf '%s|' "+Quote(s))
		cmd.Dir = t.TempDir()
		if out, err := cmd.CombinedOutput(); err != nil || string(out) != s+"|" {
			t.Errorf("%q is written %s, and a shell reads %q (%v)", s, Quote(s), out, err)
		}
	}
}

func TestAPathIsNoFlag(t *testing.T) {
	for file, want := range map[string]string{"-x.md": "./-x.md", "- x.md": "'./- x.md'", ":x": "./:x", "a/-x": "a/-x", "": "''"} {
		if got := Path(file); got != want {
			t.Errorf("Path(%q) = %s, want %s", file, got, want)
		}
	}
}
