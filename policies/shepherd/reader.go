package shepherd

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/spell"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/internal/yaml"
)

// source is a file that was read.
type source struct {
	*diag.File
	shift   int // bytes before the YAML: a byte order mark
	leftOut []node
	unknown []node
}

// node is a value with its place and its path, as policies.simple.retry.
type node struct {
	*yaml.Node
	in   *source
	path string
	key  *yaml.Node // that it is under; nil for the root and for items
}

func (n node) at() diag.Range { return n.in.Range(n.Start+n.in.shift, n.End+n.in.shift) }

// keyAt is where its key is, else the value itself.
func (n node) keyAt() diag.Range {
	if n.key == nil {
		return n.at()
	}
	return n.in.Range(n.key.Start+n.in.shift, n.key.End+n.in.shift)
}

func (n node) absent() bool { return n.Node == nil || n.Kind == yaml.Null }

// items are the elements of a list.
func (n node) items() []node {
	out := make([]node, len(n.Values))
	for i, v := range n.Values {
		out[i] = node{Node: v, in: n.in, path: fmt.Sprintf("%s[%d]", n.path, i)}
	}
	return out
}

// short is the value on one line, for comments.
func (n node) short() string {
	const most = 100
	return text.Shorten(line(plain(n.Node)), most)
}

func plain(n *yaml.Node) string {
	var parts []string
	switch n.Kind {
	case yaml.Mapping:
		for i, k := range n.Keys {
			parts = append(parts, k.Value+": "+plain(n.Values[i]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case yaml.Sequence:
		for _, v := range n.Values {
			parts = append(parts, plain(v))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case yaml.Null:
		return "null"
	}
	return n.Value
}

// line is a text on one line, without what cannot be seen.
func line(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.In(r, unicode.Cf), r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, s)
	return text.OneLine(s)
}

// wrong reports a value that does not fit.
func (c *conversion) wrong(n node, format string, args ...any) {
	name := cmp.Or(n.path[strings.LastIndexByte(n.path, '.')+1:], "the file")
	c.diags.Add(diag.Newf("shepherd-value", n.at(), "%s is not what it has to be", clip(name)).
		WithDetail("%s has to be %s.", line(cmp.Or(n.path, "The file")), fmt.Sprintf(format, args...)))
}

// missing reports a key that an object must have.
func (c *conversion) missing(n node, key, what string) {
	at := n.at()
	at.End = at.Start
	c.diags.Add(diag.Newf("shepherd-value", at, "%s is missing", key).
		WithDetail("%s is %s. Add it here.", join(n.path, key), what))
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// fields is an object that is being taken apart.
type fields struct {
	c     *conversion
	in    node
	known []string
	used  map[string]bool
}

// fields takes an object apart; ok is false after a report.
func (c *conversion) fields(n node, what string) (*fields, bool) {
	f := &fields{c: c, in: n, used: map[string]bool{}}
	if n.absent() || n.Kind != yaml.Mapping {
		c.wrong(n, "%s, as keys with values", what)
		return f, false
	}
	first := map[string]*yaml.Node{}
	for _, k := range n.Keys {
		if before := first[k.Value]; before != nil {
			at := func(x *yaml.Node) diag.Range { return n.in.Range(x.Start+n.in.shift, x.End+n.in.shift) }
			c.diags.Add(diag.Newf("shepherd-value", at(k), "the key %q appears twice", clip(k.Value)).
				WithDetail("Keep one of %s.", line(join(n.path, k.Value))).WithRelated(at(before), "first here"))
		}
		first[k.Value] = k
	}
	return f, true
}

func clip(s string) string { return text.Shorten(line(s), 32) }

// get returns the value of a key; absent if it is not there, or null.
func (f *fields) get(key string) node {
	f.known = append(f.known, key)
	f.used[key] = true
	if f.in.Node == nil || f.in.Kind != yaml.Mapping {
		return node{in: f.in.in}
	}
	for i, k := range f.in.Keys {
		if k.Value == key {
			return node{Node: f.in.Values[i], in: f.in.in, path: join(f.in.path, key), key: k}
		}
	}
	return node{in: f.in.in}
}

// section takes the object under a key apart; ok is false if it is not there, or after
// a report.
func (f *fields) section(key, what string) (sec *fields, ok bool) {
	n := f.get(key)
	if n.absent() {
		return nil, false
	}
	return f.c.fields(n, what)
}

// first returns the first of some keys that is there.
func (f *fields) first(keys ...string) node {
	out := node{in: f.in.in}
	for _, k := range keys {
		if n := f.get(k); !n.absent() && out.absent() {
			out = n
		}
	}
	return out
}

func (f *fields) text(key string) (string, node) {
	n := f.get(key)
	if n.absent() {
		return "", n
	}
	return f.c.text(n), n
}

func (c *conversion) text(n node) string {
	if n.Kind != yaml.Scalar || strings.TrimSpace(n.Value) == "" {
		c.wrong(n, "a text")
		return ""
	}
	return n.Value
}

// texts returns a list of texts; a single one is a list of one.
func (f *fields) texts(key string) ([]string, node) {
	n := f.get(key)
	if n.absent() {
		return nil, n
	}
	return f.c.texts(n), n
}

func (c *conversion) texts(n node) []string {
	if n.Kind == yaml.Scalar {
		return []string{c.text(n)}
	}
	if n.Kind != yaml.Sequence {
		c.wrong(n, "a list of texts")
		return nil
	}
	var out []string
	for _, x := range n.items() {
		if s := line(c.text(x)); s != "" {
			out = lists.Include(out, s)
		}
	}
	return out
}

func (f *fields) truth(key string) (value, set bool) {
	n := f.get(key)
	if n.absent() {
		return false, false
	}
	switch strings.ToLower(n.Value) {
	case "true", "yes", "on":
		return true, true
	case "false", "no", "off":
		return false, true
	}
	f.c.wrong(n, "true or false")
	return false, false
}

// number returns a number in a range; 0 if it is not there, or after a report.
func (f *fields) number(key string, lo, hi float64) (float64, node) {
	n := f.get(key)
	if n.absent() {
		return 0, n
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(n.Value, "_", ""), 64)
	if n.Kind != yaml.Scalar || n.Tag == "!!str" || err != nil || math.IsNaN(v) || v < lo || v > hi {
		f.c.wrong(n, "a number from %v to %v", lo, hi)
		return 0, node{in: n.in}
	}
	return v, n
}

// whole returns a whole number in a range.
func (f *fields) whole(key string, lo, hi int64) (int64, node) {
	v, n := f.number(key, float64(lo), float64(hi))
	if n.absent() {
		return 0, n
	}
	if v != math.Trunc(v) {
		f.c.wrong(n, "a whole number from %d to %d", lo, hi)
		return 0, node{in: n.in}
	}
	return int64(v), n
}

// decade bounds times, as a policy does.
const decade = 10 * 366 * 24 * 3600 * 1000

// ms returns a time in milliseconds.
func (f *fields) ms(key string) int64 {
	v, _ := f.whole(key, 1, decade)
	return v
}

// word returns one of some words; other spellings map to them.
func (f *fields) word(key string, words map[string]string) (string, node) {
	n := f.get(key)
	if n.absent() {
		return "", n
	}
	if w, ok := words[strings.ToLower(strings.ReplaceAll(n.Value, "-", "_"))]; ok && n.Kind == yaml.Scalar {
		return w, n
	}
	f.c.wrong(n, "one of %s", spell.Sorted(sortedKeys(words), 12))
	return "", node{in: n.in}
}

// leaveOut records a value that has no counterpart and returns its comment.
func (c *conversion) leaveOut(n node, reason string) string {
	n.in.leftOut = append(n.in.leftOut, n)
	return fmt.Sprintf("%s: %s. %s.", lastKey(n.path), n.short(), reason)
}

// leaveOutAll records the values that have no counterpart, as pairs of key and reason,
// and returns their comments, each after a prefix.
func (f *fields) leaveOutAll(prefix string, pairs ...[2]string) (comments []string) {
	for _, p := range pairs {
		if n := f.get(p[0]); !n.absent() {
			comments = append(comments, prefix+lastKeyOf(f.c.leaveOut(n, p[1])))
		}
	}
	return comments
}

// lastKey is the part of a path that says what a value is where its object is known.
func lastKey(path string) string {
	if i := strings.LastIndexByte(path, ']'); i >= 0 && i+2 < len(path) {
		return path[i+2:]
	}
	parts := strings.SplitN(path, ".", 3) // policies.NAME.key
	return parts[len(parts)-1]
}

// rest records the keys that were not read and returns their comments, each after
// a prefix.
func (f *fields) rest(prefix string) []string {
	if f.in.Node == nil || f.in.Kind != yaml.Mapping {
		return nil
	}
	var out []string
	for i, k := range f.in.Keys {
		if f.used[k.Value] {
			continue
		}
		n := node{Node: f.in.Values[i], in: f.in.in, path: join(f.in.path, k.Value), key: k}
		n.in.unknown = append(n.in.unknown, n)
		out = append(out, prefix+fmt.Sprintf("%s: %s. Not a key of Agent Shepherd%s.", line(k.Value), n.short(), spell.Hint(k.Value, f.known)))
	}
	return out
}
