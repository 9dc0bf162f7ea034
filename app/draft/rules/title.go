package rules

import (
	"strings"

	"github.com/ralph-compiler/ralph/internal/lazyregexp"
)

// Title is a brief's subject in one line: the title in its front matter, else its first
// line of text.
func Title(brief []string) string {
	title, lines := frontTitle(brief)
	if title != "" {
		return title
	}
	for _, l := range lines {
		if l = strings.TrimSpace(strings.TrimLeft(l, "# ")); strings.Trim(l, "-=* ") != "" {
			return l
		}
	}
	return strings.TrimSpace(strings.TrimLeft(brief[0], "# "))
}

var frontKey = lazyregexp.New(`^([\w-]+)[ \t]*:(?:[ \t]+(.*))?$`)

// frontTitle is the title in the front matter of a brief, "" if it has none, and the lines
// after the front matter. What begins with a rule and is no list of keys is none.
func frontTitle(brief []string) (title string, rest []string) {
	if strings.TrimSpace(brief[0]) != "---" {
		return "", brief
	}
	for i, l := range brief[1:] {
		l = strings.TrimRight(l, " \t")
		if l == "---" {
			return title, brief[i+2:]
		}
		m := frontKey.FindStringSubmatch(l)
		switch {
		case m != nil && strings.EqualFold(m[1], "title") && strings.Trim(m[2], "|>-+") != "":
			title = strings.TrimSpace(strings.Trim(m[2], `"'`))
		case m == nil && l != "" && !strings.ContainsAny(l[:1], " \t#-"):
			return "", brief
		}
	}
	return "", brief
}

// Subject is the first sentence of a title, without the requirements after it.
func Subject(title string) string {
	title, _, _ = strings.Cut(title, ". ")
	if at := anywhere.FindStringIndex(title); at != nil && strings.TrimSpace(title[:at[0]]) != "" {
		title = title[:at[0]]
	}
	return title
}
