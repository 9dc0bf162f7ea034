package depend

import (
	"strings"
)

// unwrap blanks the parentheses around what is nothing but the id of an item, or none:
// "(1.1)". Behind a value they hold a reason.
func (n *Names) unwrap(s string) string {
	if !strings.Contains(s, "(") {
		return s
	}
	b := []byte(s)
	for at, alone := 0, true; at < len(s); at++ {
		switch {
		case s[at] == '(':
			end := strings.IndexByte(s[at:], ')')
			if end < 0 {
				return string(b)
			}
			if alone && n.namesItem(s[at+1:at+end]) {
				b[at], b[at+end] = ' ', ' '
			}
			at += end
			alone = false
		case lineBreak(s[at:]) > 0:
			at += lineBreak(s[at:]) - 1
			alone = true
		case strings.IndexByte(",;&+", s[at]) >= 0:
			alone = true
		case !blank(s[at]):
			alone = false
		}
	}
	return string(b)
}

// namesItem reports whether s is the id of an item, with or without a keyword, or says
// none.
func (n *Names) namesItem(s string) bool {
	s = strings.TrimSpace(n.marked.mask(s))
	if _, ok := n.item(s); ok || SaysNone(s) {
		return true
	}
	w, rest := word(s, Span{0, len(s)})
	_, ok := n.item(s[rest.Start:rest.End])
	return ok && n.itemWords[strings.ToLower(w)]
}
