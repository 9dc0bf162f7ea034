package diag

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite docs/diagnostics")

const docs = "../docs/diagnostics"

// page is the docs page of a code: its line of the table, and its text.
func page(e Entry) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<!-- Generated from diag/codes_*.go and diag/texts: make generate -->\n\n# %s\n\n", e.Code)
	fmt.Fprintf(&b, "**%s.** Severity: %s%s. About: %s.\n\n", e.Title, severities(e), strictNote(e), e.About)
	b.WriteString(e.Text())
	return b.String()
}

func strictNote(e Entry) string {
	if e.Strict {
		return " (an error with `strict`)"
	}
	return ""
}

// severities are that of a code, and those that some of its findings have instead.
func severities(e Entry) string {
	s := e.Severity.String()
	for _, other := range e.Others {
		s += " or " + other.String()
	}
	return s
}

func index() string {
	var b strings.Builder
	b.WriteString("<!-- Generated from diag/codes_*.go: make generate -->\n\n# Diagnostics\n\n")
	b.WriteString("Every finding has a code that never changes its meaning. Errors keep everything from being written; warnings marked *strict* become errors with `--strict` or `ralph { strict = true }`.\n\n")
	b.WriteString("| code | severity | about | what is wrong |\n|---|---|---|---|\n")
	for _, e := range Table() {
		severity := severities(e)
		if e.Strict {
			severity += ", *strict*"
		}
		fmt.Fprintf(&b, "| [%s](%s.md) | %s | %s | %s |\n", e.Code, e.Code, severity, e.About, e.Title)
	}
	return b.String()
}

// TestDocsAreCurrent holds docs/diagnostics to the table; -update rewrites it.
func TestDocsAreCurrent(t *testing.T) {
	want := map[string]string{"README.md": index()}
	for _, e := range Table() {
		want[string(e.Code)+".md"] = page(e)
	}
	if *update {
		if err := os.RemoveAll(docs); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(docs, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range want {
			if err := os.WriteFile(filepath.Join(docs, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	for name, text := range want {
		if got, err := os.ReadFile(filepath.Join(docs, name)); err != nil || string(got) != text {
			t.Errorf("docs/diagnostics/%s is stale: make generate", name)
		}
	}
	have, _ := os.ReadDir(docs)
	for _, f := range have {
		if _, ok := want[f.Name()]; !ok {
			t.Errorf("docs/diagnostics/%s belongs to no code: make generate", f.Name())
		}
	}
}

var kebab = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

func TestEntriesAreComplete(t *testing.T) {
	if len(Table()) == 0 {
		t.Fatal("the table is empty")
	}
	for _, e := range Table() {
		switch {
		case !kebab.MatchString(string(e.Code)):
			t.Errorf("%s: a code is kebab-case", e.Code)
		case e.Severity < Error || e.Severity > Hint:
			t.Errorf("%s: no severity", e.Code)
		case slices.Contains(e.Others, e.Severity):
			t.Errorf("%s: a severity twice", e.Code)
		case e.Strict && e.Severity != Warning && e.Severity != Note:
			t.Errorf("%s: only a warning or a note can be strict", e.Code)
		case e.Title == "" || strings.HasSuffix(e.Title, ".") || len(e.Title) > 90:
			t.Errorf("%s: title %q", e.Code, e.Title)
		case len(e.Why()) < 40:
			t.Errorf("%s: Why says too little", e.Code)
		case e.About == "":
			t.Errorf("%s: about what?", e.Code)
		}
	}
}

// TestEveryTextHasItsCode: a text that no code has is never shown.
func TestEveryTextHasItsCode(t *testing.T) {
	files, err := texts.ReadDir("texts")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if _, known := Lookup(Code(strings.TrimSuffix(f.Name(), ".md"))); !known {
			t.Errorf("texts/%s belongs to no code", f.Name())
		}
	}
	if len(files) != len(Table()) {
		t.Errorf("%d texts for %d codes", len(files), len(Table()))
	}
}

// TestTextsAreWellFormed: a text ends with one line end, and its examples stand in
// fences behind the reason.
func TestTextsAreWellFormed(t *testing.T) {
	for _, e := range Table() {
		text := e.Text()
		examples := strings.TrimPrefix(text, e.Why())
		switch {
		case text != strings.TrimSpace(text)+"\n":
			t.Errorf("%s: space at an end", e.Code)
		case strings.Contains(e.Why(), "\n```"):
			t.Errorf("%s: an example without \"Reported:\" or \"Instead:\"", e.Code)
		case examples != "\n" && !strings.HasPrefix(examples, "\n\nReported:\n\n```") && !strings.HasPrefix(examples, "\n\nInstead:\n\n```"):
			t.Errorf("%s: after the reason comes %q", e.Code, examples)
		case strings.Count(examples, "\n\n```")+strings.Count(examples, "\n```\n") == 0 && examples != "\n":
			t.Errorf("%s: an example without a fence", e.Code)
		}
	}
}
