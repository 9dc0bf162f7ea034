package executor

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// wordTables renders the words of every vocabulary as docs/statuses.md has them.
func wordTables() string {
	var b strings.Builder
	b.WriteString("| node | " + strings.Join([]string{"issue", "bead", "task", "ralph-bead", "shepherd"}, " | ") + " |\n|---|---|---|---|---|---|\n")
	for s := range nodeStatuses {
		views := []NodeView{{Status: s}}
		if s == Waiting {
			views = []NodeView{
				{Status: s, For: ForHuman}, {Status: s, For: ForHuman, Cause: CausePaused}, {Status: s, For: ForTimer}, {Status: s, For: ForLimit}, {Status: s, For: ForBudget},
			}
		}
		for _, v := range views {
			name := s.String()
			if v.For != "" {
				name += " (" + string(v.For)
				if v.Cause != "" {
					name += ", " + string(v.Cause)
				}
				name += ")"
			}
			fmt.Fprintf(&b, "| %s |", name)
			for _, in := range Vocabularies {
				if w := v.Word(in); w != "" {
					if back, _ := NodeMeaning(in, w); back != s {
						w += " *"
					}
					fmt.Fprintf(&b, " %s |", w)
				}
			}
			b.WriteByte('\n')
		}
	}
	b.WriteString("\n| attempt | execution | run |\n|---|---|---|\n")
	for s := AttemptRunning; s < attemptStatuses; s++ {
		fmt.Fprintf(&b, "| %s |", s)
		for _, in := range []Vocabulary{WordsExecution, WordsRun} {
			w := s.Word(in)
			switch back, _ := AttemptMeaning(in, w); {
			case w == "":
				w = "(not written before its end)"
			case back != s:
				w += " *"
			}
			fmt.Fprintf(&b, " %s |", w)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestTheDocsListTheWordsOfEveryFormat(t *testing.T) { // K1 "listed in the docs"
	b, err := os.ReadFile("../docs/statuses.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := wordTables(); !strings.Contains(string(b), want) {
		t.Errorf("docs/statuses.md lacks these tables:\n%s", want)
	}
}
