package syntax

import (
	"slices"
	"strings"
	"sync"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/lists"
)

// markerWords are what parentheses at the end of a title may say.
var markerWords = []string{"parallel", KindMerge, KindGate, KindManual}

func betweenMarkers(r rune) bool { return r == ',' || r == ' ' || r == '/' }

var nearMarkers = sync.OnceValue(func() *NearWords { return NewNearWords(NearMarkers, markerWords) })

// nearMarker is what nearly is a marker: "(manul)", "(manual".
type nearMarker struct {
	written, meant string
	at             diag.Range
	doubt          bool // it may be a part of the title
}

// longestMarker bounds what is looked at, in bytes.
const longestMarker = 64

// nearlyMarked looks whether v[start:end] ends with what nearly is a marker.
func (t *title) nearlyMarked(v string, start, end int) {
	if t.near.meant != "" || start >= end {
		return
	}
	tail := v[start:end]
	bare := strings.TrimRight(tail, " .,;:!?…")
	if meant := oddMarker(bare, len(bare) < len(tail)); meant != "" {
		t.setNear(tail, meant, strings.LastIndexAny(tail, "([{"), start, false)
		return
	}
	at := max(strings.LastIndexByte(tail, '('), strings.LastIndex(tail, "（"))
	closed := strings.HasSuffix(tail, ")") || strings.HasSuffix(tail, "）")
	if at < 0 {
		if !closed {
			t.doubtful(tail, start)
			return
		}
		at = strings.LastIndexByte(tail, ' ') + 1 // "manual)"
	}
	if len(tail)-at > longestMarker {
		return
	}
	if meant := markerOf(tail[at:]); meant != "" {
		t.setNear(tail, meant, at, start, false)
		return
	}
	t.doubtful(tail, start)
}

// setNear notes that tail[at:] is nearly a marker; tail is at start.
func (t *title) setNear(tail, meant string, at, start int, doubt bool) {
	t.near = nearMarker{tail[at:], meant, t.in.Sub(start+at, start+len(tail)), doubt}
}

var (
	dashed   = lazyregexp.New(`\s([-–—]+\s*(merge|gate|manual))$`)
	followed = lazyregexp.New(`(?i)(\((?:merge|gate|manual)\))\s*(\([^()]*\))$`)
	enclosed = lazyregexp.New(`(?i)[\[{]\s*parallel\s*[\]}]$`)
	single   = lazyregexp.New(`\(([^()]*)\)$`)
)

// doubtful looks whether a title ends with what may be meant as a marker: "- manual",
// "(manual) (later)", "(paralel)", "[parallel]".
func (t *title) doubtful(tail string, start int) {
	if at := len(tail) - 2*longestMarker; at > 0 { // longer than what is looked for
		tail, start = tail[at:], start+at
	}
	if m := dashed.FindStringSubmatchIndex(tail); m != nil {
		t.setNear(tail, "("+tail[m[4]:m[5]]+")", m[2], start, true)
	} else if m := followed.FindStringSubmatchIndex(tail); m != nil {
		t.setNear(tail, tail[m[4]:m[5]]+" "+tail[m[2]:m[3]], m[0], start, true)
	} else if m := enclosed.FindStringIndex(tail); m != nil {
		t.setNear(tail, "(parallel)", m[0], start, true)
	} else if m := single.FindStringSubmatchIndex(tail); m != nil {
		if meant, ok := nearMarkers().Find(tail[m[2]:m[3]]); ok && meant == "parallel" {
			t.setNear(tail, "(parallel)", m[0], start, true)
		}
	}
}

// oddMarker returns the marker with which s ends, if it is in other brackets, or
// more follows; "" if there is none.
func oddMarker(s string, more bool) string {
	at := strings.LastIndexAny(s, "([{")
	if at < 0 || len(s)-at > longestMarker || len(s)-at < 2 || s[len(s)-1] != closers[s[at]] || s[at] == '(' && !more {
		return ""
	}
	inner := strings.ToLower(strings.TrimSpace(s[at+1 : len(s)-1]))
	if inner != "parallel" && slices.Contains(markerWords, inner) {
		return "(" + inner + ")"
	}
	if s[at] == '(' {
		return markerOf(s[at:])
	}
	return ""
}

var closers = map[byte]byte{'(': ')', '[': ']', '{': '}'}

// markerOf returns the marker that s is probably meant to be; "" if there is none, or it is only
// "(parallel)", which decides nothing.
func markerOf(s string) string {
	inner := strings.TrimSpace(strings.NewReplacer("（", "(", "）", ")").Replace(s))
	inner, open := strings.CutPrefix(inner, "(")
	inner, closed := strings.CutSuffix(inner, ")")
	if inner = strings.TrimSpace(inner); Exempt(NearMarkers, inner) || !open && !closed {
		return ""
	}
	right := open && closed && isASCII(s)
	if m, ok := nearMarkers().Find(inner); ok && m != "parallel" { // "(man ual)"
		return "(" + m + ")"
	}
	kind := false
	var words []string
	for _, w := range strings.FieldsFunc(inner, betweenMarkers) {
		m, ok := KnownWord(w, markerWords)
		if !ok {
			if m, ok = nearMarkers().Find(w); !ok {
				return ""
			}
		}
		right = right && strings.ToLower(w) == m
		kind = kind || m != "parallel"
		words = lists.Include(words, m)
	}
	if right || !kind {
		return ""
	}
	return "(" + strings.Join(words, ", ") + ")"
}
