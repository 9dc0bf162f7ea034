package executor

import (
	"fmt"
	"maps"
	"os"
	"slices"
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

// endTable renders which commands end a wait for a person, as docs/statuses.md has it.
func endTable() string {
	var b strings.Builder
	b.WriteString("| a person is awaited because of | what ends it |\n|---|---|\n")
	for _, c := range slices.Sorted(maps.Keys(ends)) {
		if c == causeOnly {
			continue
		}
		var how []string
		for _, e := range ends[c] {
			verb, rest, _ := strings.Cut(e, " ")
			how = append(how, "`"+strings.TrimRight("ralph "+verb+" KEY "+rest, " ")+"`")
		}
		switch c {
		case CausePaused:
			how = append(how, "`ralph resume KEY`")
		case CausePull:
			how = append(how, "merge it, or close it with a comment")
		}
		fmt.Fprintf(&b, "| %s | %s |\n", c, strings.Join(how, ", "))
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
	if want := endTable(); !strings.Contains(string(b), want) {
		t.Errorf("docs/statuses.md lacks these tables:\n%s", want)
	}
}
