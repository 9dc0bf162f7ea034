package gate

import (
	"strings"

	"github.com/ralph-compiler/ralph/internal/lazyregexp"
)

// wrapping is what a program says that ran the one that failed: that it failed, and
// where its own log is.
var wrapping = lazyregexp.New(`^(?:` + strings.Join([]string{
	`g?make(?:\[\d+\])?: (?:\*\*\* \[.*\] Error \d+.*|\*\*\* Waiting for unfinished jobs.*|(?:Leaving|Entering) directory .*|Target .* not remade because of errors\.)`,
	`npm notice.*`,
	`npm (?:ERR!|error)(?: *| (?:A complete log of this run|Lifecycle script|code|errno|path|command|workspace|location|syscall|signal|Exit status|Failed at the|This is probably not|Test failed\.).*|  +.*)`,
	`\s*ELIFECYCLE\s.*`, `\s*ERR_PNPM_RECURSIVE_.*`, `\s+WARN\s.*`,
	`error Command failed with exit code \d+\.?`, `info Visit https://yarnpkg\.com.*`, `\$ .*`,
	"error: [Rr]ecipe .* failed .*exit code \\d+", `error: script ".*" exited with code \d+`,
	`task: Failed to run task .*`, `ninja: build stopped: .*`,
	`exit status \d+`, `FAIL`, `FAIL\t.*`, `ok  \t.*`, `={4,}.*={4,}`, `BUILD FAILED.*`, `\d+ actionable tasks?: .*`,
	`\[ERROR\] *(?:\[Help 1\].*|For more information.*|Re-run Maven.*|To see the full stack trace.*|-> \[Help 1\].*)?`, `\[INFO\].*`,
	`[-=─⎯*\s]*`,
}, "|") + `)$`)

// lastSaid is the last line of an output that says something and is not by a
// program that only ran the one that failed; where there is none, the last line.
func lastSaid(text string) string {
	last := ""
	for text = strings.TrimRight(text, " \t\r\n"); text != ""; {
		i := strings.LastIndexByte(text, '\n')
		line := strings.TrimSpace(text[i+1:])
		if !wrapping.MatchString(strings.TrimRight(text[i+1:], " \t\r")) {
			return line
		}
		if last == "" {
			last = line
		}
		text = strings.TrimRight(text[:max(i, 0)], " \t\r\n")
	}
	return last
}
