package rules

import (
	"strings"
	"testing"
)

func TestTitle(t *testing.T) {
	for brief, want := range map[string]string{
		"Add login":                     "Add login",
		"# Add login\n\nREQ-1: it asks": "Add login",
		"---\nowner: ann\ntitle: \"Add login\"\n---\nx": "Add login",
		"---\nowner: ann\n---\n\n## Add login\n":        "Add login",
		"---\ntitle:\nowner: ann\n---\n# Add login":     "Add login",
		"---\ntitle: \"\"\n---\nAdd login":              "Add login",
		"---\nauthor:\n  title: Dr\n---\nAdd login":     "Add login",
		"---\nAdd login\n\nNotes\nTitle: deep\n":        "Add login",
		"---\nAdd login\n\nTitle: deep\n\n---\n\nEnd":   "Add login",
		"---\nnever closed":                             "never closed",
	} {
		if got := Title(strings.Split(brief, "\n")); got != want {
			t.Errorf("%q: got %q, want %q", brief, got, want)
		}
	}
}

func TestSubject(t *testing.T) {
	for title, want := range map[string]string{
		"Add a command. It greets.":      "Add a command",
		"Add a command REQ-1: it greets": "Add a command ",
		"Read UTF-8 names":               "Read UTF-8 names",
		"REQ-1 is what is wanted":        "REQ-1 is what is wanted",
	} {
		if got := Subject(title); got != want {
			t.Errorf("%q: got %q, want %q", title, got, want)
		}
	}
}
