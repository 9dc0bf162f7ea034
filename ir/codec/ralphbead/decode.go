package ralphbead

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
)

// Format is the name of the format: of --as, and of its keys in Node.Ext.
const Format = "ralph-bead"

// maxBytes bounds a bead.
const maxBytes = 4 << 20

// Bounds of numbers: those that the same words have in a plan.
const (
	maxIterations = 10_000
	maxMinutes    = 10 * 366 * 24 * 60
)

// utf8BOM is what PowerShell puts before a file that it writes.
var utf8BOM = []byte("\xef\xbb\xbf")

// looksLike is what a file needs to be taken for a bead that is not named one.
var looksLike = regexp.MustCompile(`(?i)"(intent|dod)"\s*:`)

// Recognize reports whether a JSON file that was not said to be a bead is one,
// well-formed or not.
func Recognize(src []byte) bool {
	head := src[:min(len(src), maxBytes)]
	return looksLike.Match(head) && !bytes.Contains(head, []byte(`"ralph.ir/`))
}

// Decode reads a bead. The draft has one node; it is nil when the list holds an
// error. file.Name is the path that the epic calls its plan. Safe for
// concurrent use.
func Decode(file *diag.File) (*ir.Draft, diag.List) {
	d := &decoding{file: file, ext: map[string]any{}}
	if root := d.root(); root != nil {
		d.bead(root)
	}
	if len(d.unknown) > 0 {
		d.diags.Add(diag.Newf("bead-unknown-key", d.unknown[0].at, "ralph has no use for %d of its keys", len(d.unknown)).
			WithDetail("%s. They are kept in epic.json (nodes.ext.%s) and do nothing. If one of them is misspelt, correct it.", d.unknownList(), Format))
	}
	d.diags.Sort()
	if d.diags.HasErrors() {
		return nil, d.diags
	}
	d.finish()
	return &d.draft, d.diags
}

// decoding is the state of one Decode.
type decoding struct {
	file    *diag.File
	diags   diag.List
	draft   ir.Draft
	node    ir.DraftNode
	ext     map[string]any // keys that have no place in a draft
	unknown []stray
}

type stray struct {
	pointer string
	at      diag.Range
}

func (d *decoding) at(v *value) diag.Range { return d.file.Range(v.start, v.end) }

// root reads the file as one JSON object; nil if it is none.
func (d *decoding) root() *value {
	src := d.file.Bytes
	bad := func(offset int, format string, args ...any) *value {
		d.diags.Add(diag.New("bead-json", d.file.Range(offset, offset), "the file is not a JSON object").WithDetail(format, args...))
		return nil
	}
	switch {
	case len(src) > maxBytes:
		return bad(0, "It has %d bytes; at most %d are read. A bead is one piece of work: split it.", len(src), maxBytes)
	case bytes.HasPrefix(src, []byte("\xff\xfe")) || bytes.HasPrefix(src, []byte("\xfe\xff")):
		return bad(0, "It is UTF-16. Save it as UTF-8; in PowerShell: Set-Content -Encoding utf8.")
	case !utf8.Valid(src):
		return bad(0, "It is not UTF-8. Save it as UTF-8, with or without a byte order mark.")
	}
	if bytes.HasPrefix(src, utf8BOM) { // blanked, so that offsets stay
		src = slices.Concat([]byte("   "), src[len(utf8BOM):])
	}
	v, err := parse(src)
	if err != nil {
		at := 0
		var where *syntaxError
		if errors.As(err, &where) {
			at = where.offset
		}
		return bad(at, "It cannot be read: %v. Mend it here.", err)
	}
	if v.kind != '{' {
		return bad(v.start, "It holds %s. A bead is an object with the keys intent and dod.", kinds[v.kind])
	}
	return v
}

// fields are the members of an object by their plain names.
type fields map[string]*value

// object takes an object apart. known are the keys that have a meaning; all
// others are kept in ext, where nil keeps nothing.
func (d *decoding) object(v *value, ext map[string]any, known ...string) fields {
	out := fields{}
	first := map[string]member{}
	for _, m := range v.members {
		name := plain(m.name)
		at := d.file.Range(m.start, m.end)
		if before, twice := first[name]; twice {
			d.diags.Add(diag.Newf("bead-value", at, "the key %q stands twice", clip(m.name)).
				WithDetail("%s is the same key in another spelling, or the same one. Keep one of them.", before.name).
				WithRelated(d.file.Range(before.start, before.end), "first here"))
			continue
		}
		first[name] = m
		if slices.ContainsFunc(known, func(k string) bool { return plain(k) == name }) {
			if m.value.kind != '0' { // null is the same as leaving it out
				out[name] = m.value
			}
			continue
		}
		d.unknown = append(d.unknown, stray{v.pointer + "/" + escape(m.name), at})
		if ext != nil {
			ext[m.name] = m.value.plainJSON()
		}
	}
	return out
}

func (d *decoding) unknownList() string {
	const most = 8
	var names []string
	for _, s := range d.unknown[:min(len(d.unknown), most)] {
		names = append(names, s.pointer)
	}
	out := strings.Join(names, ", ")
	if n := len(d.unknown) - most; n > 0 {
		out += fmt.Sprintf(" and %d more", n)
	}
	return out
}

// wrong reports a value that does not fit; the detail begins with its pointer.
func (d *decoding) wrong(v *value, want string) {
	name := v.pointer[strings.LastIndexByte(v.pointer, '/')+1:]
	d.diags.Add(diag.Newf("bead-value", d.at(v), "%s is not what it has to be", clip(name)).
		WithDetail("%s has to be %s.", v.pointer, want))
}

func (d *decoding) missing(in *value, key, what string) {
	d.diags.Add(diag.Newf("bead-missing", d.file.Range(in.start, in.start+1), "%s is missing", key).
		WithDetail("%s/%s is %s. Add it to this object.", in.pointer, key, what))
}

// text returns a text that says something; "" after a report.
func (d *decoding) text(v *value, what string) string {
	if v.kind != 's' || strings.TrimSpace(v.text) == "" || strings.ContainsRune(v.text, 0) {
		d.wrong(v, what+", a text that is not empty")
		return ""
	}
	return v.text
}

// whole returns a whole number in a range.
func (d *decoding) whole(v *value, lo, hi int64) (int64, bool) {
	n, err := json.Number(v.text).Int64()
	if f, ferr := json.Number(v.text).Float64(); err != nil && ferr == nil && f == float64(int64(f)) {
		n, err = int64(f), nil // 30.0
	}
	if v.kind != 'n' || err != nil || n < lo || n > hi {
		d.wrong(v, fmt.Sprintf("a whole number from %d to %d", lo, hi))
		return 0, false
	}
	return n, true
}

// word returns one of the words that a key may have, in lower case.
func (d *decoding) word(v *value, words ...string) string {
	if v.kind == 's' {
		if w := strings.ToLower(v.text); slices.Contains(words, w) {
			return w
		}
	}
	d.wrong(v, "one of "+strings.Join(words, ", "))
	return ""
}

func (d *decoding) stated(v *value, text string) ir.Stated {
	return ir.Stated{Value: text, Range: d.at(v), Strict: true}
}

// plainJSON is a value as encoding/json writes it, numbers as they are.
func (v *value) plainJSON() any {
	switch v.kind {
	case '{':
		out := map[string]any{}
		for _, m := range v.members {
			out[m.name] = m.value.plainJSON()
		}
		return out
	case '[':
		out := make([]any, 0, len(v.items))
		for _, x := range v.items {
			out = append(out, x.plainJSON())
		}
		return out
	case 's':
		return v.text
	case 'n':
		return json.Number(v.text)
	case 'b':
		return v.truth
	}
	return nil
}

// slugOf makes the name of a gate or an epic of a text: lower case, one "-" for
// every run of other characters.
func slugOf(s string) string {
	var b strings.Builder
	gap := false
	for _, r := range strings.ToLower(s) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			if gap && b.Len() > 0 {
				b.WriteByte('-')
			}
			b.WriteRune(r)
			gap = false
			continue
		}
		gap = true
	}
	return b.String()
}

// stem is the name of a file without folder and extension.
func stem(file string) string { return strings.TrimSuffix(path.Base(file), path.Ext(file)) }

func clip(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
