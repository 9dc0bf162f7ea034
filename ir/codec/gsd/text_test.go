package gsd

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ralph-compiler/ralph/diag"
)

// Comments are blanked, and nothing else: places stay, code is no comment.
func TestComments(t *testing.T) {
	for text, want := range map[string]string{
		"a<!--b-->c":                          "a        c",
		"a<!--\r\n\n-->b":                     "a    \r\n\n   b",
		"<!-- a":                              "<!-- a",
		"--> <!-- a":                          "--> <!-- a",
		"a -->":                               "a -->",
		"`<!--` a -->":                        "`<!--` a -->",
		"``<!--a-->``":                        "``<!--a-->``",
		"`<!--a--> b":                         "`         b",
		"`a\n<!--b-->`":                       "`a\n        `",
		"~~<!--a-->~~":                        "~~        ~~",
		"x ```<!--a-->```":                    "x ```<!--a-->```",
		"x ```\n<!--a-->\n```":                "x ```\n        \n```",
		"```\n<!--a-->\n```\n<!--b-->":        "```\n<!--a-->\n```\n        ",
		"\n \t```go\n<!--a-->\n  ```<!--b-->": "\n \t```go\n<!--a-->\n  ```<!--b-->",
		"~~~\nx\n<!--a-->\n~~~\n<!--b-->":     "~~~\nx\n<!--a-->\n~~~\n        ",
		"```\n<!--a-->\n``\nb":                "```\n        \n``\nb",
		"<!--a-->```":                         "        ```",
		"<!--a-->`":                           "        `",
	} {
		if got := withoutComments([]byte(text)); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// Lines lose the indentation that they share, a first one without any aside, and points are
// those of a list.
func TestLinesAndPoints(t *testing.T) {
	for text, want := range map[string]string{
		"":                     "",
		"  a":                  "a",
		"a":                    "a",
		"\n \na \t\r\nb  \n\n": "a|b",
		"  a\n    b":           "a|  b",
		"    a\n  b":           "  a|b",
		"a\n  b\n\n    c\n  d": "a|b||  c|d",
		"a\n    b\n  c\n   d":  "a|  b|c| d",
		"\ta\n\t\tb":           "a|    b",
		"  a\n\n  b":           "a||b",
		"a\nb\n  c":            "a|b|  c",
	} {
		if got := strings.Join(lines(text), "|"); got != want {
			t.Errorf("%q has the lines %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"a\n\nb":                             "a b",
		"- a\n* b\n1. c\n12) d":              "a|b|c|d",
		"1234. a\n. b\n1.c\nx. d":            "1234. a . b 1.c x. d",
		"-   a\n- [ ] b\n- [x]  c\n- [ ]":    "a|b|c|[ ]",
		"- a]b\n- ab] c\n- [ab] c\n- [1](x)": "a]b|ab] c|[ab] c|[1](x)",
		"- a\n  more\n\n  - b\n  - c\n- d":   "a more|  - b|  - c|d",
		"a:\n- b\n- c":                       "a:|b|c",
		"a:\n    - b\n- c":                   "a:|b|c",
		"Before declaring it:\n- [ ] b":      "b",
		"- Before declaring it\n- b":         "Before declaring it|b",
		"Before declaring it, try it.":       "Before declaring it, try it.",
	} {
		if got := strings.Join(points(text), "|"); got != want {
			t.Errorf("%q has the points %q, want %q", text, got, want)
		}
	}
}

// What goes on in a line of its own belongs to the key before it; what is no key with a value
// hides no other.
func TestFrontMatter(t *testing.T) {
	for text, want := range map[string]string{
		"---\na: 1\nb: 2\n---\nx":                   "a b | x",
		"\ufeff---\na: 1\n---\nx":                   "a | x",
		"---\r\na: 1\r\n---  \r\nx":                 "a | x",
		"---\na: [\nx\n]\nb: {\n}\n---\n":           "a! x\n]! b | ",
		"---\na:\n- x\n- y\n\n# no\nb:\n\tx\n---\n": "a b! | ",
		"---\na:\n  x: 1\nb: 1\n---\n":              "a b | ",
		"---\nonly text\n{a: 1, b: 2}\nb: 1\n---\n": "only text! {a! b | ",
		"---\n[a]\nb: 1\n---\n":                     "[a]! b | ",
		"---\na: 1\n":                               " | ---\na: 1\n",
		"\n---\na: 1\n---\n":                        " | \n---\na: 1\n---\n",
		"---":                                       " | ---",
		"---\na: 1\n---":                            "a | ",
	} {
		entries, body := frontMatter(diag.NewFile("x.md", []byte(text)))
		var keys []string
		for _, e := range entries {
			if e.mistaken != nil {
				e.key += "!"
			}
			keys = append(keys, e.key)
		}
		if got := strings.Join(keys, " ") + " | " + text[body:]; got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// Only files of the project are its files, each once.
func TestPaths(t *testing.T) {
	for written, want := range map[string]string{
		"a.go": "a.go", " `./a.go` ": "a.go", "@a/b/": "a/b/", "a.go (new)": "a.go", "x.go": "",
		"": "", ".": "", "./": "", "/etc/x": "", "../x": "", "~/x": "", "C:x": "", `a\b`: "", "a b": "", "a\x00": "",
	} {
		p := &plan{}
		list := []string{"x.go"}
		p.addPath(&list, written)
		if got := strings.Join(list[1:], " "); got != want {
			t.Errorf("%q is %q, want %q", written, got, want)
		}
	}
	many := make([]string, 999)
	p := &plan{}
	p.addPath(&many, "a")
	if p.addPath(&many, "b"); len(many) != 1000 {
		t.Errorf("it has %d files", len(many))
	}
}

// What a directory has of GSD's: neither hidden directories nor those far below, and not too much.
func TestFindLooksWhereGSDWrites(t *testing.T) {
	for names, want := range map[string]string{
		"01-01-PLAN.md SUMMARY.md plan.md EXPLAN.md x-PLAN.md.txt x-":              "01-01-PLAN.md SUMMARY.md plan.md",
		".planning 01-01-PLAN.md":                                                  "01-01-PLAN.md",
		"phases 01-01-PLAN.md":                                                     "01-01-PLAN.md",
		"phases/a/01-01-PLAN.md 02-01-PLAN.md":                                     "phases/a/01-01-PLAN.md",
		"a/b/01-PLAN.md a/b/c/02-PLAN.md .x/03-PLAN.md a/.x/PLAN.md":               "a/b/01-PLAN.md a/b/c/02-PLAN.md",
		"01-PLAN.md/x.md a/b/c/d/01-PLAN.md":                                       "",
		".planning/phases/a/b/PLAN.md .planning/phases/a/b/c/d/PLAN.md ROADMAP.md": ".planning/phases/a/b/PLAN.md",
	} {
		fsys := fstest.MapFS{}
		for name := range strings.FieldsSeq(names) {
			fsys[name] = &fstest.MapFile{}
		}
		if got, err := Find(fsys); err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s has %v, %v, want %s", names, got, err, want)
		}
	}
	fsys := fstest.MapFS{}
	for i := range maxFiles {
		fsys[fmt.Sprintf("%d-PLAN.md", i)] = &fstest.MapFile{}
	}
	if got, err := Find(fsys); err != nil || len(got) != maxFiles {
		t.Errorf("%d files, %v", len(got), err)
	}
	fsys["x.md"] = &fstest.MapFile{}
	if _, err := Find(fsys); err != nil {
		t.Errorf("another file is %v", err)
	}
	fsys["x-PLAN.md"] = &fstest.MapFile{}
	if _, err := Find(fsys); err == nil {
		t.Error("one more is not refused")
	}
}
