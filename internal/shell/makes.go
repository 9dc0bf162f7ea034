package shell

import "strings"

// checks are programs that make no file of a project, with their first word where only
// that says so: they read, change what is there or remove it.
var checks = set(`actionlint basename cat chgrp chmod chown cmp cut date df diff dirname du egrep eslint fgrep file flake8
	golangci-lint grep head hadolint id jq ls mypy nproc pgrep prettier ps pylint pytest readlink realpath rg rm rmdir ruff
	sha256sum shellcheck shfmt stat tail tr tty uname wc whoami yamllint`)

var checkWords = set(`cargo:check cargo:clippy cargo:fmt git:check-ignore git:diff git:fetch git:grep git:log git:ls-files
	git:rev-parse git:show git:status go:env go:list go:mod go:test go:version go:vet npm:ci npm:install npm:test pip:install
	pip3:install pnpm:install yarn:install`)

// makesNothing reports whether a program is known to make no file that a line then starts.
func makesNothing(name string, args []word) bool {
	return checks[name] || len(args) > 0 && checkWords[name+":"+args[0].text]
}

// writes notes words that name what a program may write.
func (r *reader) writes(words ...word) {
	for _, w := range words {
		if strings.HasPrefix(w.text, "-") {
			var given bool
			if _, w.text, given = strings.Cut(w.text, "="); !given {
				continue
			}
		}
		if p := r.path(w); p != "" && p != "." {
			r.made = append(r.made, p)
		}
	}
}
