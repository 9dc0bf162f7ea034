package syntax

import (
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/text"
)

// Front matter that is not read: it is never closed, or something stands above it. What it
// says would be left out, the policy among it.

// maxAboveFrontMatter bounds what is looked at above front matter, in bytes.
const maxAboveFrontMatter = 4 << 10

// lostFrontMatter reports front matter that begins at the line first, is not read, and sets
// something. A rule with prose below it is none.
func (p *parser) lostFrontMatter(first, top int) {
	key := p.ownKey(nextLine(p.src, first))
	if key == "" {
		return
	}
	at := p.file.Range(first, lineEnd(p.src, first))
	if first > top || p.src[first] != '-' {
		p.report(diag.New("front-matter-syntax", at, "the front matter is not at the beginning").WithDetail(
			"It is read as markdown, so %s: sets nothing. The plan begins with the line --- itself: delete what stands above it, or move it below the front matter.", key))
		return
	}
	p.report(diag.New("front-matter-syntax", at, "the front matter is never closed").WithDetail(
		"It is read as markdown, so %s: sets nothing. Write --- on a line of its own behind its last key; if it is not front matter, begin the plan with another line.", key))
}

// aboveFrontMatter returns the offset of the first line that is neither empty nor a
// comment, if it is "---"; else -1.
func (p *parser) aboveFrontMatter(at int) int {
	for limit := at + maxAboveFrontMatter; at < min(len(p.src), limit); {
		line := p.src[at:lineEnd(p.src, at)]
		switch trimmed := strings.TrimSpace(line); {
		case trimmed == "---":
			return at
		case trimmed == "":
			at = nextLine(p.src, at)
		case strings.HasPrefix(trimmed, "<!--"):
			n := strings.Index(p.src[at:], "-->")
			if n < 0 || strings.TrimSpace(p.src[at+n+3:lineEnd(p.src, at+n)]) != "" {
				return -1
			}
			at = nextLine(p.src, at+n)
		default:
			return -1
		}
	}
	return -1
}

// ownKey returns the first key of ralph's in the lines of YAML from an offset on; "" if
// there is none, or if they are no YAML.
func (p *parser) ownKey(at int) string {
	for line, stop := range p.lines(at, min(len(p.src), at+maxFrontMatter)) {
		s := strings.TrimRight(p.src[line:stop], " \t\r")
		if s == "" || s[0] == ' ' || s[0] == '\t' || strings.HasPrefix(s, "- ") {
			continue
		}
		key, value, ok := strings.Cut(s, ":")
		if !ok || strings.ContainsAny(key, " \t*`[]<>|#") || value != "" && value[0] != ' ' && value[0] != '\t' {
			break
		}
		if slices.Contains(frontMatterKeys, key) || key == "todos" {
			return key
		}
	}
	return ""
}

// frontMatterHides reports headings of items in front matter, where they are comments: it
// is closed by a rule further down.
func (p *parser) frontMatterHides() {
	fm := p.plan.FrontMatter.Range
	if fm.IsZero() {
		return
	}
	var hidden []span
	for at, stop := range p.lines(fm.Start, fm.End) {
		if strings.HasPrefix(p.src[at:stop], "#") && p.looksLikeItem(at, stop) {
			hidden = append(hidden, span{at, stop})
		}
	}
	if len(hidden) > 0 {
		p.reportHidden(diag.Newf("front-matter-syntax", p.rng(hidden[0]), "the front matter hides %s", text.Counted(len(hidden), "item or group", "items and groups")).WithDetail(
			"It goes on to the next line of ---, and headings in it are comments of YAML. Write --- above this line, where it should end."), hidden[1:])
	}
}
