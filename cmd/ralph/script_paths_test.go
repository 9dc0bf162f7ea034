package main

import (
	"fmt"
	"strings"
	"testing"
)

func TestFilesThatALineOfShellNames(t *testing.T) { // execution §5, preflight
	say := func(files []usedFile) string {
		var out []string
		for _, f := range files {
			s := f.path
			if f.program {
				s += "!"
			}
			if f.late {
				s += "+"
			}
			out = append(out, s)
		}
		return strings.Join(out, " ")
	}
	for line, want := range map[string]string{
		"go test ./... -count=1":               "test ...",
		"./check.sh":                           "check.sh!",
		"sh tools/x.sh a.txt":                  "tools/x.sh! a.txt",
		"A=1 B='2 3' ./check.sh":               "check.sh!",
		"make build && ./bin/app; sh y.sh":     "build bin/app!+ y.sh!+",
		"cd web && ./run.sh":                   "",
		`python3 -m pytest tests`:              "pytest tests",
		`python3 "scripts/a b.py" --x`:         "scripts/a b.py!",
		`sh -c './x.sh'`:                       "x.sh",
		`node -e 'require("./x")'`:             `require("./x")`,
		"$HOME/x.sh && ./y.sh":                 "y.sh!+",
		"./${name}.sh":                         "",
		"/usr/bin/env x && ../up.sh":           "x",
		"test -x ./a.sh || exit 1 # ./b.sh":    "a.sh 1+",
		"if ./a.sh; then ./b.sh; fi":           "a.sh! b.sh!+ ",
		". ./env.sh":                           "env.sh!",
		"./x.sh > out.txt 2>&1":                "x.sh! out.txt",
		"echo \"$(./x.sh)\"; ./y.sh":           "",
		"printf 'it''s' | ./x.sh":              "its x.sh!+",
		"./unended 'x":                         "",
		"env LC_ALL=C time ./x.sh":             "x.sh!",
		"bash --norc -e tools/x.sh":            "tools/x.sh!",
		"bash -eu tools/x.sh":                  "tools/x.sh!",
		"for f in a b; do ./x.sh \"$f\"; done": "f in a b x.sh!+ ",
	} {
		if got := say(lineFiles(line)); strings.TrimSpace(got) != strings.TrimSpace(want) {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
	for _, c := range []struct{ argv, want string }{
		{"./agent.sh|--x", "agent.sh!"}, {"sh|-c|./x.sh && ./y.sh", "x.sh! y.sh!+"}, {"sh|agent.sh|${run.model}", "agent.sh!"}, {"claude|--flag|a.txt", "a.txt"}, {"", ""},
	} {
		argv := strings.Split(c.argv, "|")
		if c.argv == "" {
			argv = nil
		}
		if got := say(argvFiles(argv)); got != c.want {
			t.Errorf("%s: %q, want %q", fmt.Sprint(argv), got, c.want)
		}
	}
}
