package syntax

import (
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/internal/lazyregexp"
)

// A parenthesis behind a status word says when, how far or where the work was
// done. Anything else, such as a duration, is an estimate: "Complete (2 days)" is
// the end of a title.

// maxRemark bounds the parentheses that are looked at, in bytes.
const maxRemark = 200

var (
	remarkWord   = lazyregexp.New(`^\pL[\pL\pM'’.@_/-]*$|^[&+–—-]$`)
	remarkNumber = lazyregexp.New(`^(\d{1,4}[./-]\d{1,2}[./-]\d{1,4}|\d{4}-\d{2}|\d{4}-\d{2}-\d{2}T[\d:.]+Z?|\d{1,2}:\d{2}(:\d{2})?|(19|20)\d\d|\d+(\.\d+)?%|[0-9a-f]{7,40}|[\pL/_-]*#\d+|!\d+)$`)
	monthDay     = lazyregexp.New(`^\d{1,2}(st|nd|rd|th)?$`)
)

// isRemark reports whether a parenthesis behind a status word holds a date, a
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
