package depend

import (
	"bytes"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/lists"
)

// Lines such as "Depends on: 1.1" and "_Depends: 1.1_" are not labels, because
// only bold names are, so they make no edge. A reader takes them for one: that
// is worth a warning if nothing else gives the edge.

// nearLine is what such a line begins with, after bullets and emphasis: other
// words, and words of other languages, that say the same.
var nearLine = lazyregexp.New("(?i)^`?" + `(?:depend(?:s|ent|ing)?(?:[ _-](?:up)?on)?|dependenc(?:y|ies)|pre-?requisites?|pre-?conditions?` +
	`|blocked[ _-]by|after|requires?|needs|waits?[ _-]for|preceded[ _-]by|predecessors?` +
	`|abhängig(?:keit(?:en)?)?(?: von)?|voraussetzung(?:en)?|dépendances?|dépend de|prérequis|dependencias?|depende de|requisitos previos` +
	`|dependências?|pré-requisitos?|dipendenz[ae]|dipende da|зависимост[ьи]|зависит от|依赖(?:于|项|关系)?|前置(?:条件|任务)?|依存(?:関係)?|前提|의존성|선행(?: 작업)?)` +
	"[*_`]*\\s*[:：][*_`]*\\s*")

// nearBlocks is the same the other way round.
var nearBlocks = lazyregexp.New("(?i)^`?(?:(?:un)?blocks|unlocks)[*_`]*\\s*[:：][*_`]*\\s*")

// nearClause is the same as a sentence.
var nearClause = lazyregexp.New(`(?i)^(?:it |this )?(?:depends on|is blocked by|blocked by)\s+`)

// nearTitle is the same within a title.
var nearTitle = lazyregexp.New(`(?i)(?:\b(?:depends on|blocked by)[*_]*:?[*_]*\s+|\((?:after|requires|needs|dependencies|dependency|deps|depends(?: on)?):?\s+)`)

// NearLabels finds the lines of an item's section, and the end of its title, that
// look like a dependency label but are not one.
func NearLabels(it *syntax.Item, file *diag.File) (out []Statement) {
	src := file.Bytes
	add := func(at, end int, st Statement) {
		for end > at && (strings.IndexByte(" \t\r._*", src[end-1]) >= 0 || src[end-1] == ')' && bytes.IndexByte(src[at:end], '(') < 0) {
			end--
		}
		if at < end {
			r := file.Range(at, end)
			st.Text, st.At = file.Text(r), r
			out = append(out, st)
		}
	}
	fromTitle := slices.ContainsFunc(it.Body.Labels, func(l syntax.Label) bool { return l.From == syntax.FromTitle })
	if r := it.TitleRange; !fromTitle && r.Start >= 0 && r.Start < r.End && r.End <= len(src) {
		title := string(src[r.Start:r.End])
		if m := nearTitleIndex(title); m != nil {
			end := len(title)
			if k := strings.IndexByte(title[m[1]:], ')'); k >= 0 {
				end = m[1] + k
			}
			add(r.Start+m[1], r.Start+end, Statement{title: true})
		}
	}
	r := it.Body.Range
	if r.Start < 0 || r.End > len(src) {
		return out
	}
	section, fence := string(src[r.Start:r.End]), ""
	for at := r.Start; at < r.End; {
		end := r.End
		if k := bytes.IndexByte(src[at:min(r.End, at+maxNearLine)], '\n'); k >= 0 {
			end = at + k
		} else if r.End-at > maxNearLine {
			return out
		}
		line := section[at-r.Start : end-r.Start]
		lead := beforeText(line)
		switch body := line[lead:]; {
		case strings.HasPrefix(body, "```"), strings.HasPrefix(body, "~~~"):
			switch fence {
			case "":
				fence = body[:3]
			case body[:3]:
				fence = ""
			}
		case fence == "":
			n, blocks := plainName(line, body), false
			named := n > 0
			if !named {
				n, blocks = nearLength(body)
			}
			if n > 0 && !labelled(&it.Body, at, end) {
				add(at+lead+n, end, Statement{
					blocks: blocks, named: named, label: !named && hasLabelName(body),
					listed: listMark.MatchString(line),
					bold:   strings.HasSuffix(line[:lead], "**") || strings.HasSuffix(line[:lead], "__"),
				})
			}
		}
		at = end + 1
	}
	return out
}

var (
	itemMark = lazyregexp.New(`^(?:\d{1,9}[.)][ \t]+)?(?:\[[ xX]\][ \t]+)?`) // a number, a check box
	listMark = lazyregexp.New(`^[ \t>]*(?:[*+•-]|\d{1,9}[.)])[ \t]`)
)

// beforeText is the length of what stands before the text of a line: marks of quotations,
// lists and emphasis, a number, a check box.
func beforeText(line string) int {
	const marks = " \t>*+-_(•"
	text := strings.TrimLeft(line, marks)
	if text != "" && (text[0] == '[' || '0' <= text[0] && text[0] <= '9') {
		text = strings.TrimLeft(text[len(itemMark.FindString(text)):], marks)
	}
	return len(line) - len(text)
}

// maxNearLine bounds the lines that are looked at.
const maxNearLine = 4096

func nearTitleIndex(title string) []int {
	if !strings.ContainsAny(title, "0123456789") {
		return nil
	}
	return nearTitle.FindStringIndex(title)
}

// nearLength returns the length of what reads like a dependency label at the
// start of s; 0 if nothing does, or if no digit and so no id follows. blocks: what is
// named waits for the item.
func nearLength(s string) (n int, blocks bool) {
	if !strings.ContainsAny(s, "0123456789") {
		return 0, false
	}
	colon := strings.IndexByte(s, ':') >= 0 || strings.Contains(s, "：")
	for _, near := range []struct {
		re    *lazyregexp.Regexp
		could bool // of a long plan, most lines could not: they are spared the expression
	}{{nearLine, colon}, {nearClause, strings.IndexByte("iItTdDbB", s[0]) >= 0}, {nearBlocks, colon}} {
		if !near.could {
			continue
		}
		if m := near.re.FindStringIndex(s); m != nil {
			return m[1], near.re == nearBlocks
		}
	}
	return 0, false
}

// plainName returns the length of a dependency label's name and its colon that a line of
// text begins with; such a line is worth a warning whatever its value says. "After" and the
// reverse labels begin sentences, too.
func plainName(line, body string) int {
	k := strings.IndexByte(body[:min(len(body), 32)], ':')
	if k <= 0 || strings.TrimSpace(body[k+1:]) == "" || strings.TrimLeft(line, " \t") != body || strings.ContainsAny(body[:k], "*_`") {
		return 0
	}
	if name, ok := syntax.LookupLabel(body[:k]); !ok || name != syntax.DependsOn || strings.EqualFold(body[:k], "after") {
		return 0
	}
	return k + 1 + len(body[k+1:]) - len(strings.TrimLeft(body[k+1:], " \t"))
}

// hasLabelName reports whether a line begins with a dependency label's name and a colon.
func hasLabelName(body string) bool {
	name, _, ok := strings.Cut(body[:min(len(body), 32)], ":")
	label, known := syntax.LookupLabel(strings.Trim(name, " *_`"))
	return ok && known && label.IsDependency()
}

// labelled reports whether a known label is in the line.
func labelled(sec *syntax.Section, at, end int) bool {
	return slices.ContainsFunc(sec.Labels, func(l syntax.Label) bool { return l.NameRange.Start < end && l.NameRange.End > at })
}

// nearLabel is a line that looks like a label.
type nearLabel struct {
	st     Statement
	says   bool      // something about the order
	prose  diag.List // what is wrong with the value, if it is all that keeps it from being a label
	misses bool      // an edge that it names
}

// checkNear warns about lines that look like a label, name an item, and make no
// edge to it, though it does not come before by way of others.
func (d *depender) checkNear() {
	var lines []nearLabel
	var claims []claim
	var of []int // the line of each claim
	for i := range d.Items {
		for _, st := range d.Items[i].Near {
			line, named := d.nearSays(int32(i), st)
			for range named {
				of = append(of, len(lines))
			}
			claims = append(claims, named...)
			lines = append(lines, line)
		}
	}
	for k, follows := range d.follow(claims) {
		lines[of[k]].misses = lines[of[k]].misses || !follows
	}
	for _, l := range lines {
		switch {
		case l.misses && len(l.prose) > 0:
			d.diags.Add(l.prose...)
		case l.st.named, l.misses:
			d.nearMiss(l.st, l.says)
		}
	}
}

// nearMiss reports a line that looks like a label.
func (d *depender) nearMiss(st Statement, says bool) {
	label, where := "Depends on", "with a bold name"
	if st.blocks {
		label = "Blocks"
	}
	if st.bold {
		where = "on a line of its own below the heading"
	}
	if st.title {
		where = "with a bold name, on a line of its own below"
	}
	how := "Write \"**" + label + "**: " + clip(strings.TrimSpace(d.names.marked.mask(st.Text))) + "\", " + where + "."
	if !says {
		how = "If one is meant, write \"**" + label + "**:\", " + where + ", and the ids of items."
	}
	if d.Rules.numbers == "unless_explicit" && d.inForce {
		how += " The first such label turns off dependencies by number and order: give one to every item that waits for another."
	}
	d.diags.Add(diag.Newf("dependency-near-miss", st.At, "%q is read as prose", clip(strings.TrimSpace(st.Text))).
		WithDetail("The line reads like a dependency, but it is not a label, so it makes none. %s", how))
}

// maxNearPairs bounds the items of one line that are looked at.
const maxNearPairs = 64

// nearSays reports what a line says about the order, and who waits for whom if it does.
// Where the line has a label's name, an item that its text only mentions is named, too.
func (d *depender) nearSays(i int32, st Statement) (line nearLabel, named []claim) {
	var quiet diag.List
	r := d.names.read(st, &quiet)
	line = nearLabel{st: st, says: r.says() && !r.wrong && len(quiet) == 0}
	if !st.label {
		r.mentions = nil
	} else if st.listed && !r.says() {
		line.prose = quiet
	}
	for _, items := range append(lists.Map(r.targets, d.apiece), r.mentions) {
		for _, j := range items {
			switch {
			case j == i || len(named) == maxNearPairs:
			case st.blocks:
				named = append(named, claim{from: i, to: j})
			default:
				named = append(named, claim{from: j, to: i})
			}
		}
	}
	return line, named
}

// apiece returns the items that a part of a value names one by one.
func (d *depender) apiece(t target) []int32 {
	switch t.kind {
	case toItem:
		return []int32{t.item}
	case toRange:
		return d.names.between(t.lo, t.to)
	}
	return nil
}

// direct reports whether item to waits for item from.
func (d *depender) direct(from, to int32) bool {
	return slices.ContainsFunc(d.out.of(int(to)), func(e edge) bool { return e.from == from && e.soft == 0 })
}
