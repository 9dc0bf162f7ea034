package shell

import "testing"

func TestFirst(t *testing.T) {
	for line, want := range map[string]string{
		"go test ./...": "go", "A=1 B=2 make": "make", "./run.sh": "", "test -e x": "", "( cd x && go test )": "",
		"! grep x y": "", `A="b c" make`: "make", "echo hi": "", "$TOOL x": "", "sh tests/run.sh": "sh",
		"missing-tool || true":                "",
		"missing-tool -q && other || true":    "",
		"missing-tool | tee log || echo no":   "",
		"missing-tool || exit 1":              "missing-tool",
		"missing-tool || { echo no; false; }": "missing-tool",
		"a-tool || b-tool":                    "",
		"a-tool && b-tool":                    "a-tool",
		"A=1; make":                           "make",
		"'my tool' x":                         "my tool",
		"go() { :; }; go test":                "",
		"go test; go() { :; }":                "",
		"# only words\nmake":                  "make",
		"make \\\n  test":                     "make",
		"${run.worktree}/x":                   "",
		"if make; then :; fi":                 "",
		"'":                                   "",
		"":                                    "",
	} {
		if got := First(line); got != want {
			t.Errorf("%q begins with %q, want %q", line, got, want)
		}
	}
}
