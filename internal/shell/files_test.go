package shell

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// say writes files as path, ! for what is started, ? for what may be missing, + for what
// the line may have made.
func say(files []File) string {
	var out []string
	for _, f := range files {
		s := f.Path
		for _, m := range []struct {
			is   bool
			mark string
		}{{f.Program, "!"}, {f.Optional, "?"}, {f.Late, "+"}} {
			if m.is {
				s += m.mark
			}
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

func TestFilesThatALineOfShellNames(t *testing.T) { // execution §5, preflight
	for line, want := range map[string]string{
		"go test ./... -count=1":                 "test ...",
		"./check.sh":                             "check.sh!",
		"sh tools/x.sh a.txt":                    "tools/x.sh! a.txt",
		"A=1 B='2 3' ./check.sh":                 "check.sh!",
		"make build && ./bin/app; sh y.sh":       "build bin/app!+ y.sh!+",
		`python3 -m pytest tests`:                "pytest tests",
		`python3 "scripts/a b.py" --x`:           "scripts/a b.py!",
		`node -e 'require("./x")'`:               `require("./x")`,
		"$HOME/x.sh && ./y.sh":                   "y.sh!+",
		"./${name}.sh":                           "",
		"./*.sh; ~/x.sh; ./{a,b}.sh":             "",
		`./a\ b.sh`:                              "a b.sh!",
		"/usr/bin/env x && ../up.sh":             "",
		"if ./a.sh; then ./b.sh; fi":             "a.sh! b.sh!+",
		". ./env.sh":                             "env.sh!",
		"source env.sh":                          "env.sh!",
		"./x.sh > out.txt 2>&1 < in.txt":         "in.txt x.sh!",
		`echo "$(./x.sh)" ` + "`./z.sh`; ./y.sh": "x.sh! z.sh!+ y.sh!+",
		"A=$(./x.sh)":                            "x.sh!",
		"export A=$(./x.sh)":                     "x.sh!",
		"diff <(./x.sh) a.txt":                   "x.sh! a.txt+",
		"printf 'it''s' | ./x.sh":                "x.sh!",
		"printf '#!/bin/sh' > x.sh; ./x.sh":      "x.sh!+",
		"for f in a b; do ./x.sh \"$f\"; done":   "x.sh!",
		"f() { ./x.sh; }; f":                     "x.sh!",
		"case $A in a) ./x.sh;; esac":            "x.sh!",
		"while ! ./x.sh; do sleep 1; done":       "x.sh!",
		"[[ -n $A ]] && ./x.sh":                  "x.sh!",
		"./unended 'x":                           "",
		"":                                       "",
		`./${run.branch}.sh && sh -c './${run.attempt} $${run.x}; ./y.sh'`: "y.sh!+",
		`cd d && ${run.worktree}/x.sh && cd "${run.worktree}/e" && ./y.sh`: "x.sh! e/y.sh!+",

		// What stands before a program.
		"timeout 60 ./x.sh":                        "x.sh!",
		"timeout -k 5 --signal=KILL 1m ./x.sh a":   "x.sh! a",
		"nice -n 5 ./x.sh":                         "x.sh!",
		"nice -5 ./x.sh":                           "x.sh!",
		"nice ./x.sh":                              "x.sh!",
		"env A=1 ./x.sh":                           "x.sh!",
		"env -i -u B LC_ALL=C time ./x.sh":         "x.sh!",
		"env -C sub A=1 ./x.sh":                    "sub/x.sh!",
		"env --chdir=sub A=1 ./x.sh; ./y.sh":       "sub/x.sh! y.sh!+",
		"env -S 'A=1 ./x.sh -v'":                   "x.sh!",
		"/bin/sh ./x.sh":                           "x.sh!",
		"/usr/bin/env bash ./x.sh":                 "x.sh!",
		"time -p ./x.sh":                           "x.sh!",
		"time ./x.sh":                              "x.sh!",
		"exec -a name ./x.sh":                      "x.sh!",
		"command ./x.sh":                           "x.sh!",
		"nohup stdbuf -oL -e 0 ./x.sh &":           "x.sh!",
		"sudo -u root A=1 ./x.sh":                  "x.sh!",
		"flock .lock ./x.sh":                       "x.sh!",
		"flock -w 5 .lock -c './x.sh && ./y.sh'":   "x.sh! y.sh!+",
		"ls | xargs -0 -n 1 -I{} ./x.sh {}":        "x.sh!+",
		"git ls-files | xargs ./x.sh":              "ls-files x.sh!+",
		"find . -name '*.t' -exec ./x.sh {} \\;":   "x.sh!",
		"find . -exec sh x.sh {} +":                "x.sh!",
		"! ./x.sh":                                 "x.sh!",
		"eval './x.sh a'":                          "x.sh! a",
		"trap './x.sh' EXIT":                       "x.sh!",
		"uv run scripts/x.py":                      "scripts/x.py!",
		"poetry run python x.py":                   "x.py!",
		"npx -y tsx x.ts":                          "x.ts!",
		"timeout \"$T\" ./x.sh":                    "x.sh!",
		"timeout 60 nice -n 5 sh -c 'exec ./x.sh'": "x.sh!",
		"./env x.sh":                               "env! x.sh",

		// Lines in a line.
		`sh -c './x.sh'`:                     "x.sh!",
		`sh -c ./x.sh`:                       "x.sh!",
		`sh -c 'set -e; ./x.sh'`:             "x.sh!",
		`bash -euo pipefail -c "./x.sh $A"`:  "x.sh!",
		`bash -ec "cd sub && ./x.sh"`:        "sub/x.sh!",
		`sh -c 'cd sub'; ./x.sh`:             "x.sh!",
		"sh -s <<'EOF'\nset -e\n./x.sh\nEOF": "x.sh!",
		"bash < x.sh":                        "x.sh!",
		"sh -c '" + strings.Repeat("( ", 30) + "./x.sh" + strings.Repeat(")", 30) + "'": "x.sh!",

		// Where it is.
		"cd d && ./x.sh":                 "d/x.sh!",
		"cd d; ./x.sh a.txt":             "d/x.sh! d/a.txt",
		"cd d || exit 1; ./x.sh":         "d/x.sh!",
		"(cd d && ./x.sh); ./y.sh":       "d/x.sh! y.sh!+",
		"cd d && cd .. && ./x.sh":        "x.sh!",
		"cd -- d && ./x.sh":              "d/x.sh!",
		"cd a && cd b; ./x.sh":           "a/b/x.sh!",
		"make && cd d && ./x.sh; ./y.sh": "d/x.sh!+",

		"pushd d; ./x.sh; popd; ./y.sh":                               "d/x.sh!",
		"cd .. && ./x.sh":                                             "",
		"cd /tmp && ./x.sh":                                           "",
		`cd "$(git rev-parse --show-toplevel)" && ./x.sh`:             "x.sh!+ rev-parse",
		`cd d; "$(git rev-parse --show-toplevel)"/x.sh`:               "x.sh!+ d/rev-parse",
		`cd d; $PWD/x.sh; "${PWD}/y.sh"; "a$PWD"/z.sh; ${PWD#x}/z.sh`: "d/x.sh! d/y.sh!+",
		"cd && ./x.sh":                                                "",
		`cd "$D" && ./x.sh`:                                           "",
		"if a; then cd d; fi; ./x.sh":                                 "",
		"if a; then cd d; else ./y.sh; fi":                            "y.sh!+",
		"cd d | ./x.sh":                                               "x.sh!",
		"for d in a b; do (cd $d; ./x.sh); done; ./y.sh":              "y.sh!+",

		// What options take is no script.
		"bash -o pipefail x.sh":             "pipefail x.sh!",
		"bash -euo pipefail tools/x.sh":     "pipefail tools/x.sh!",
		"bash --norc -e tools/x.sh":         "tools/x.sh!",
		"bash --rcfile a +o posix x.sh":     "a posix x.sh!",
		"bash -eu -- tools/x.sh":            "tools/x.sh!",
		"bash -o pipefail":                  "pipefail",
		"python3 -W error x.py":             "error x.py!",
		"python3 -Werror -uX dev x.py":      "dev x.py!",
		"python3 -W error -m pytest":        "error pytest",
		"python3 -c 'import x' x.py":        "import x x.py",
		"node -r ./x.js app.js":             "x.js app.js!",
		"node --require x.js --test app.js": "x.js app.js!",
		"node --import tsx app.ts":          "tsx app.ts!",
		"perl -Ilib -MFoo -w x.pl":          "x.pl!",
		"perl -ne 'print' x.txt":            "print x.txt",
		"ruby -I lib -rjson x.rb":           "lib x.rb!",
		"php -d a=b -f x.php":               "a=b x.php!",
		"lua -l m -e 'x=1' x.lua":           "m x=1 x.lua!",
		"awk -f x.awk a.txt":                "x.awk! a.txt",
		"awk '{print}' a.txt":               "{print} a.txt",

		// What may be missing.
		"if [ -f ./x.sh ]; then ./x.sh; fi":                      "x.sh!?",
		"if [ -f x.sh ]; then sh x.sh; else ./y.sh; fi":          "x.sh!? y.sh!",
		"if [ ! -f x.sh ]; then echo no; else ./x.sh; fi":        "x.sh!?",
		"if [ ! -x x.sh ]; then exit 0; fi; ./x.sh":              "x.sh!?",
		"if [ ! -x x.sh ]; then echo no; exit 1; fi; ./x.sh":     "x.sh!",
		"if [[ -f a.sh && ! -f b.sh ]]; then ./a.sh; ./b.sh; fi": "a.sh!? b.sh!+",
		"if test -d tools; then tools/x.sh && tools/y.sh; fi":    "tools tools/x.sh!? tools/y.sh!?+",
		"if [ -f a.sh ]; then ./b.sh; fi":                        "a.sh b.sh!",
		"test -x ./x.sh && ./x.sh":                               "x.sh!?",
		"test -x ./x.sh && timeout 5 ./x.sh && ./y.sh":           "x.sh!? y.sh!+",
		"[ ! -e x.sh ] || sh x.sh":                               "x.sh!?",
		"[ -f a -o -f b ] && ./a && ./b":                         "a!? b!?+",
		"{ [ -f a ] || [ -f b ]; } && ./a":                       "b a!?",
		"[ -f x.sh ] || exit 0; ./x.sh":                          "x.sh!?",
		"[ -f x.sh ] || make x.sh; ./x.sh":                       "x.sh!?+",
		"[ -f x.sh ] || exit 1; ./x.sh":                          "x.sh!",
		"[ -f x.sh ] || { echo missing >&2; exit 3; }; ./x.sh":   "x.sh!",
		"[ -f x.sh ] || echo missing; ./x.sh":                    "x.sh!",
		"test -x ./a.sh || exit 1 # ./b.sh":                      "a.sh",
		"command -v ./x.sh >/dev/null && ./x.sh":                 "x.sh!?",
		"cd d && [ -f x.sh ] && ./x.sh":                          "d/x.sh!?",
		"[ -f x.sh ] && cd d && ./x.sh":                          "x.sh d/x.sh!",
		"sh -c 'if [ -f x.sh ]; then ./x.sh; fi'":                "x.sh!?",
		"if [ -f x.sh ]; then sh -c ./x.sh; fi":                  "x.sh!?",
		"./x.sh || true":                                         "x.sh!?",
		"./x.sh || :":                                            "x.sh!?",
		"./x.sh || echo failed":                                  "x.sh!?",
		"./x.sh --fix 2>/dev/null || sh y.sh":                    "x.sh!? y.sh!+",
		"./x.sh || exit 1":                                       "x.sh!",
		"./x.sh || { echo failed; exit 1; }":                     "x.sh!",
		"./x.sh || { echo failed; false; }":                      "x.sh!",
		"./x.sh || exit $?":                                      "x.sh!",
		"die() { exit 1; }; ./x.sh || die":                       "x.sh!",
		"./x.sh; ./x.sh || true":                                 "x.sh!",
		"./x.sh || true; ./x.sh":                                 "x.sh!",
		"sh -c './x.sh || true'":                                 "x.sh!?",
		"sh -c './x.sh' || true":                                 "x.sh!?",
	} {
		got := strings.Fields(say(Files(line)))
		fields := strings.Fields(want)
		slices.Sort(got)
		slices.Sort(fields)
		if !slices.Equal(got, fields) {
			t.Errorf("%s: %q, want %q", line, say(Files(line)), want)
		}
	}
}

func TestFilesOfAProgramThatNoShellStarts(t *testing.T) {
	for argv, want := range map[string]string{
		"./agent.sh|--x":                "agent.sh!",
		"sh|-c|./x.sh && ./y.sh":        "x.sh! y.sh!+",
		"sh|agent.sh|${run.model}":      "agent.sh!",
		"claude|--flag|a.txt":           "a.txt",
		"env|A=1|./x.sh":                "x.sh!",
		"timeout|60|bash|-lc|./x.sh":    "x.sh!",
		"./a b.sh|$x|*.txt":             "a b.sh! $x *.txt",
		"sh|-c|./x.sh \"${run.model}\"": "x.sh!",
		"":                              "",
	} {
		var words []string
		if argv != "" {
			words = strings.Split(argv, "|")
		}
		if got := say(ArgvFiles(words)); got != want {
			t.Errorf("%s: %q, want %q", argv, got, want)
		}
	}
}

func TestTheCommandsOfALine(t *testing.T) {
	got := fmt.Sprint(Commands(`CI=1 timeout 60 make test | tee log; (cd web && npm "run" $X); bash -c 'cd a; just b'; cd $D && go test; sh x.sh`))
	if want := "[{. [make test]} {. [tee log]} {web [npm run " + unknown + "]} {a [just b]}]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// FuzzFiles: whatever a gate says, reading it ends, and no path leads out.
func FuzzFiles(f *testing.F) {
	for _, s := range []string{"cd d && ./x.sh", "if [ -f x ]; then ./x; fi", "sh -c './x || true'", "env -S 'a' b", "timeout -k", "f(){ f;};f", "find -exec", "bash <<E\n./x\nE"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		for _, file := range append(Files(line), ArgvFiles(strings.Fields(line))...) {
			if strings.HasPrefix(file.Path, "/") || file.Path == ".." || strings.HasPrefix(file.Path, "../") || strings.Contains(file.Path, unknown) {
				t.Errorf("%q: %q", line, file.Path)
			}
		}
	})
}

// A hostile line is read in a time that grows with its length.
func TestALineOfManyCommandsIsReadOnce(t *testing.T) {
	const n = 2000
	for _, line := range []string{
		"a" + strings.Repeat(" || a", n), "a" + strings.Repeat(" && a", n), strings.Repeat("{ ", n) + "a" + strings.Repeat("; }", n),
		strings.Repeat("[[ $(", 50) + "a" + strings.Repeat(") ]]", 50), strings.Repeat("a > $(", 50) + "a" + strings.Repeat(")", 50),
		strings.Repeat("if ", 500) + "a" + strings.Repeat("; then a; fi", 500), strings.Repeat(":>a;./x;", 4*n), strings.Repeat("f() { ", 500) + "a" + strings.Repeat("; }", 500),
	} {
		Files(line)
	}
}
