package gate

import (
	"strings"
	"testing"
)

func TestAFenceHoldsWhatItHolds(t *testing.T) {
	for text, ticks := range map[string]int{"": 3, "a": 3, "`a`": 3, "``": 3, "```": 4, "a\n```go\n``` ``": 4, "`` ``` `````": 6, "`````\n```": 6} {
		mark := strings.Repeat("`", ticks)
		if got, want := fence("x", text), mark+"x\n"+text+"\n"+mark+"\n"; got != want {
			t.Errorf("%q is fenced as %q, want %q", text, got, want)
		}
	}
}

func TestBareIsWhereQuotesCanBePut(t *testing.T) {
	for line, want := range map[string]bool{
		`cd @`:                      true,
		`cd @ && echo "$(ls)"`:      true,
		`cd \@`:                     false,
		`cd "\@"`:                   false,
		`cd \\@`:                    true,
		"echo \\ #'\n@'":            false,
		`echo "\"#" @`:              true,
		`make @'x' '@'`:             false,
		`echo "${x:-"@"}"`:          false,
		`echo ${x:-@}`:              false,
		`echo $'\'@'`:               false,
		`echo "a << b" @`:           true,
		`git log ${run.branch} @`:   true,
		`cd a#b/@`:                  true,
		`echo "a # b" @`:            true,
		"make # don't\ncd @":        true,
		`make # @`:                  false,
		"make # @\nls":              false,
		`echo $@ '$@' @`:            true,
		`cd $(echo @)`:              true,
		`echo "a" 'b' @`:            true,
		`echo "it's" @`:             true,
		"# don't\ncd @":             true,
		`echo \" @`:                 true,
		`cd "@"`:                    false,
		`git log "${run.branch}" @`: true,
		`cd '@'`:                    false,
		`sh -c 'cd @'`:              false,
		"# don't\necho '@'":         false,
		`echo "$(echo "@")"`:        false,
		"echo `echo @`":             false,
		"cat <<E\n@\nE":             false,
		`echo $'\'' @`:              false,
		`echo ${x:-"@"}`:            false,
		`test @ = "x" && echo '@'`:  false,
		`test @ = "it's" && make @`: true,
	} {
		if got := bare(line, "@"); got != want {
			t.Errorf("%s: %v, want %v", line, got, want)
		}
	}
}
