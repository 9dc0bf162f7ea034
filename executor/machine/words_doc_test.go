package machine

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
)

// wordTables renders the words of every vocabulary as docs/statuses.md has them.
func wordTables() string {
	var b strings.Builder
	b.WriteString("| node | " + strings.Join([]string{"issue", "bead", "task", "ralph-bead", "shepherd"}, " | ") + " |\n|---|---|---|---|---|---|\n")
	for s := range executor.NodeStatuses {
		views := []NodeView{{Status: s}}
		if s == executor.Waiting {
			views = []NodeView{
				{Status: s, For: executor.ForHuman}, {Status: s, For: executor.ForHuman, Cause: executor.CausePaused}, {Status: s, For: executor.ForTimer}, {Status: s, For: executor.ForLimit}, {Status: s, For: executor.ForBudget},
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
					if read := readWords[in]; read != nil && read.Read(w) != standsAs(s) {
						w += " *"
					}
					fmt.Fprintf(&b, " %s |", w)
				}
			}
			b.WriteByte('\n')
		}
	}
	b.WriteString("\n| attempt | execution | run |\n|---|---|---|\n")
	for s := executor.AttemptRunning; s < executor.AttemptStatuses; s++ {
		fmt.Fprintf(&b, "| %s |", s)
		for _, in := range []executor.Vocabulary{executor.WordsExecution, executor.WordsRun} {
			w := s.Word(in)
			if w == "" {
				w = "(not written before its end)"
			}
			fmt.Fprintf(&b, " %s |", w)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// endTable renders which commands end a wait for a person, as docs/statuses.md has it.
func endTable() string {
	var b strings.Builder
	b.WriteString("| a person is awaited because of | what ends it |\n|---|---|\n")
	for _, c := range slices.Sorted(maps.Keys(ends)) {
		if c == executor.CauseOnly {
			continue
		}
		var how []string
		for _, e := range ends[c] {
			e.Key = "KEY"
			how = append(how, "`"+e.Command()+"`")
		}
		switch c {
		case executor.CausePaused:
			how = append(how, "`ralph resume KEY`")
		case executor.CausePull:
			how = append(how, "merge it, or close it with a comment")
		}
		fmt.Fprintf(&b, "| %s | %s |\n", c, strings.Join(how, ", "))
	}
	return b.String()
}

func TestTheDocsListTheWordsOfEveryFormat(t *testing.T) { // K1 "listed in the docs"
	b, err := os.ReadFile("../../docs/statuses.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := wordTables(); !strings.Contains(string(b), want) {
		t.Errorf("docs/statuses.md lacks these tables:\n%s", want)
	}
	if want := endTable(); !strings.Contains(string(b), want) {
		t.Errorf("docs/statuses.md lacks these tables:\n%s", want)
	}
}
