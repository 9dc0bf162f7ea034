package syntax

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ralph-compiler/ralph/internal/lazyregexp"
)

// ending cuts what may follow the title and returns where it ends.
func (t *title) ending(p *parser, v string, start int) int {
	end := len(v)
	cut := false
	for end > start {
		trimmed := start + len(strings.TrimRight(v[start:end], " \u00a0"))
		if cut {
			trimmed = start + len(strings.TrimRight(v[start:trimmed], " \u00a0:-–—|"))
		}
		if trimmed != end {
			end = trimmed
			continue
		}
		r, n := utf8.DecodeLastRuneInString(v[:end])
		switch {
		case isEmoji(r):
			t.picture(r, end-n, end)
			end -= n
			continue
		case r == '}':
			if k := strings.LastIndexByte(v[start:end], '{'); k >= 0 && start+k+1 < end && (v[start+k+1] == '#' || v[start+k+1] == '.') {
				end = start + k
				continue
			}
		case r == ')' || r == ']':
			if at, ok := t.group(p, v, start, end); ok {
				end, cut = at, cut || t.done
				continue
			}
		}
		if at, ok := t.statusWord(v, start, end); ok {
			end, cut = at, true
			continue
		}
		t.nearlyMarked(v, start, end)
		return end
	}
	return max(end, start)
}

// group parses parentheses or brackets at the end.
func (t *title) group(p *parser, v string, start, end int) (int, bool) {
	open := byte('(')
	if v[end-1] == ']' {
		open = '['
	}
	from := max(start, end-511)
	at := opener(v[from:end], open)
	if at < 0 {
		return end, false
	}
	at += from
	if t.marker(p, v, at, end) {
		return at, true
	}
	inner := strings.TrimSpace(v[at+1 : end-1])
	bare := strings.ToLower(strings.TrimFunc(inner, isBlank))
	switch {
	case doneWords[firstWord(bare)] && isTail(bare[len(firstWord(bare)):]), inner != "" && bare == "" && strings.ContainsAny(inner, checkMarks),
		open == '[' && bare == "x":
		t.setDone(at, end)
		return at, true
	case otherStatus[bare], open == '[' && inner == "":
		return at, true
	}
	if (p.dialect.In == InCheckbox || p.dialect.In == InTodo) && open == '(' {
		for _, w := range []string{"depends on ", "depends: ", "depends on: ", "after "} {
			if n, ok := foldPrefix(inner, w); ok && t.depends == nil {
				from := at + 1 + strings.Index(v[at+1:end], inner) + n
				d := t.in.text(from, from+len(inner)-n)
				t.depends, t.dependAt = &d, t.in.Sub(at+1, from)
				return at, true
			}
		}
	}
	// DONE (PR #4): the parenthesis goes with the word before it.
	if open == '(' {
		before := start + len(strings.TrimRight(v[start:at], " "))
		word := *t
		if to, ok := word.statusWord(v, start, before); ok && (isRemark(inner) || strings.ContainsAny(v[to:before], checkMarks)) {
			*t = word
			return to, true
		}
		if inPart(bare) {
			return end, false
		}
		if to, ok := t.checkMark(v, start, before); ok {
			return to, true
		}
	}
	return end, false
}

// checkMark parses a check mark at the end of v[start:end].
func (t *title) checkMark(v string, start, end int) (int, bool) {
	at := start + len(strings.TrimRight(v[start:end], " \ufe0f"))
	r, n := utf8.DecodeLastRuneInString(v[start:at])
	if !strings.ContainsRune(checkMarks, r) || r == '\ufe0f' {
		return end, false
	}
	t.setDone(at-n, at)
	return at - n, true
}

// inPart reports whether a parenthesis after a check mark says that something
// is left: "✅ (80%)", "✅ (partial)".
func inPart(s string) bool {
	return strings.Contains(s, "%") && !strings.Contains(s, "100%") || strings.Contains(s, "partial") || strings.Contains(s, "remaining")
}

var doneWords = map[string]bool{"complete": true, "completed": true, "done": true, "merged": true}

var otherStatus = map[string]bool{
	"in progress": true, "in-progress": true, "wip": true, "todo": true, "to do": true, "pending": true, "blocked": true, "not started": true,
	"planned": true, "deferred": true, "in review": true, "skipped": true, "cancelled": true, "canceled": true, "ongoing": true,
	"on hold": true,
}

// statusWord parses a status at the end of v[start:end], also before a date:
// in capitals, or after a dash.
func (t *title) statusWord(v string, start, end int) (int, bool) {
	stop := end
	if d := dateLength(v[start:end]); d > 0 {
		stop = start + len(strings.TrimRight(v[start:end-d], " :,-–—"))
	}
	if stop < end {
		if to, ok := t.checkMark(v, start, stop); ok {
			return to, true
		}
	}
	at := start + strings.LastIndexByte(v[start:stop], ' ') + 1
	word := strings.TrimRight(v[at:stop], ".!")
	low := strings.ToLower(word)
	dash := afterDash(v, start, at)
	switch {
	case doneWords[low] && (word == strings.ToUpper(word) || dash >= 0):
		if dash < 0 {
			dash = at
		}
		t.setDone(at, at+len(word))
		return dash, true
	case stop < end:
		return end, false
	}
	for _, n := range []int{1, 2} { // "WIP", "in progress"
		if n == 2 {
			k := strings.LastIndexByte(strings.TrimRight(v[start:at], " "), ' ')
			at = start + k + 1
			low = strings.ToLower(strings.TrimRight(v[at:stop], ".!"))
			dash = afterDash(v, start, at)
		}
		if otherStatus[low] && dash >= 0 {
			return dash, true
		}
	}
	return end, false
}

// statusMarks are pictures that go before a status: "✅ Done", "🚧 In progress".
const statusMarks = checkMarks + "🔄🚧⏳⬜⏸❌🟢🟡🔴"

// afterDash returns where a dash begins that is before at, pictures between
// them, or where such pictures begin if one of them is a status mark; -1 if there
// is neither.
func afterDash(v string, start, at int) int {
	marked := -1
	for at > start {
		r, n := utf8.DecodeLastRuneInString(v[:at])
		switch {
		case r == ' ':
			at -= n
		case isEmoji(r):
			if at -= n; marked >= 0 || strings.ContainsRune(statusMarks, r) {
				marked = at
			}
		case r == '–' || r == '—':
			return at - n
		case r == '-' && at-2 >= start && v[at-2] == ' ', strings.HasSuffix(v[start:at], "--"):
			return start + len(strings.TrimRight(v[start:at], "-"))
		default:
			return marked
		}
	}
	return marked
}

func firstWord(s string) string { return s[:len(s)-len(strings.TrimLeftFunc(s, unicode.IsLetter))] }

// isTail reports whether nothing, a date or a parenthesis follows a status.
func isTail(s string) bool {
	s = strings.Trim(s, " .!*_`:,–—-\u00a0"+checkMarks)
	if i := strings.LastIndexByte(s, ' '); i >= 0 && (strings.HasPrefix(s, "on ") || strings.HasPrefix(s, "at ")) {
		s = strings.TrimSpace(s[3:])
	}
	return s == "" || s[0] == '(' || s[0] == '[' || beginsWithDate(s)
}

func beginsWithDate(s string) bool {
	for i := 6; i <= min(len(s), 12); i++ {
		if (i == len(s) || !isWord(s[i])) && dateLength(s[:i]) == i {
			return true
		}
	}
	return false
}

// dateLength returns the length of the date that s ends with: digits in groups
// of two and four with "-", "/" or ".".
func dateLength(s string) int {
	i := len(s)
	digits, seps := 0, 0
	for ; i > 0 && len(s)-i < 11; i-- {
		if c := s[i-1]; c >= '0' && c <= '9' {
			digits++
		} else if (c == '-' || c == '/' || c == '.') && i < len(s) {
			seps++
		} else {
			break
		}
	}
	if seps != 2 || digits < 6 || i > 0 && s[i-1] != ' ' && s[i-1] != '(' {
		return 0
	}
	return len(s) - i
}

// A parenthesis after a status word says when, how far or where the work was
// done. Anything else, such as a duration, is an estimate: "Complete (2 days)" is
// the end of a title.

// maxRemark bounds the parentheses that are looked at, in bytes.
const maxRemark = 200

var (
	remarkWord   = lazyregexp.New(`^\pL[\pL\pM'’.@_/-]*$|^[&+–—-]$`)
	remarkNumber = lazyregexp.New(`^(\d{1,4}[./-]\d{1,2}[./-]\d{1,4}|\d{4}-\d{2}|\d{4}-\d{2}-\d{2}T[\d:.]+Z?|\d{1,2}:\d{2}(:\d{2})?|(19|20)\d\d|\d+(\.\d+)?%|[0-9a-f]{7,40}|[\pL/_-]*#\d+|!\d+)$`)
	monthDay     = lazyregexp.New(`^\d{1,2}(st|nd|rd|th)?$`)
)

// isRemark reports whether a parenthesis after a status word holds a date, a
// percentage, a commit, a pull request, or nothing but words.
func isRemark(s string) bool {
	if len(s) > maxRemark {
		return false
	}
	words := strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" \u00a0,;`*_|", r) || isEmoji(r) })
	for i, w := range words {
		w = strings.ToLower(strings.Trim(w, ".:!?\"'"))
		switch {
		case w == "", remarkWord.MatchString(w), remarkNumber.MatchString(w):
		case monthDay.MatchString(w) && (i > 0 && isMonth(words[i-1]) || i+1 < len(words) && isMonth(words[i+1])):
		case strings.Trim(w, "0123456789") == "" && i > 0 && slices.Contains([]string{"pr", "mr", "issue"}, strings.ToLower(words[i-1])):
		default:
			return false
		}
	}
	return true
}

// isMonth reports whether a word is the name of a month, or the beginning of one.
func isMonth(w string) bool {
	w = strings.ToLower(strings.Trim(w, "."))
	return len(w) >= 3 && slices.ContainsFunc(months, func(m string) bool { return strings.HasPrefix(m, w) })
}

var months = []string{"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"}
