package foreign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// Bounds of what is read.
const (
	MaxBytes = 64 << 20 // of a file
	MaxLines = 200_000  // objects of a file
)

// utf8BOM is what PowerShell puts before a file that it writes.
var utf8BOM = []byte("\xef\xbb\xbf")

// Reader takes apart the values of one file and collects their mistakes. The zero value
// with a File and a Format is ready.
type Reader struct {
	File   *diag.File
	Format string // as --as names it; unknown keys are kept under it in Node.Ext
	Diags  diag.List

	unknown []stray
}

type stray struct {
	pointer string
	at      diag.Range
}

// At is the place of a value.
func (r *Reader) At(v *Value) diag.Range { return r.File.Range(v.Start, v.End) }

// text is the file as UTF-8 without a byte order mark (blanked, so that offsets
// stay); false after a report.
func (r *Reader) text(most int) ([]byte, bool) {
	src := r.File.Bytes
	switch {
	case len(src) > most:
		const mega = 1 << 20
		r.bad(0, "It has %.1f MB; at most %.1f MB are read. Split it, or leave out what is not needed.", float64(len(src))/mega, float64(most)/mega)
	case utf16(src):
		r.bad(0, "It is UTF-16. Save it as UTF-8; in PowerShell: Set-Content -Encoding utf8.")
	case !utf8.Valid(src):
		r.bad(0, "It is not UTF-8. Save it as UTF-8, with or without a byte order mark.")
	case bytes.HasPrefix(src, utf8BOM):
		return slices.Concat([]byte("   "), src[len(utf8BOM):]), true
	default:
		return src, true
	}
	return nil, false
}

func (r *Reader) bad(offset int, format string, args ...any) {
	r.Diags.Add(diag.New("bead-json", r.File.Range(offset, offset), "the file cannot be read as JSON").WithDetail(format, args...))
}

// holds reports that the file is JSON, and something else than it has to be.
func (r *Reader) holds(v *Value, want string) {
	r.Diags.Add(diag.New("bead-json", r.File.Range(v.Start, v.Start), "the file is not what it has to be").WithDetail("It holds %s, not %s.", Kinds[v.Kind], want))
}

// unreadable reports why bytes are no JSON.
func (r *Reader) unreadable(err error) {
	at := 0
	var where *syntaxError
	if errors.As(err, &where) {
		at = where.offset
	}
	if len(bytes.TrimSpace(bytes.TrimPrefix(r.File.Bytes, utf8BOM))) == 0 {
		r.bad(0, "It is empty.")
		return
	}
	r.bad(at, "It cannot be read: %v. %s", err, fix(r.File.Bytes, at, err))
}

// Object reads the file as one JSON object of at most most bytes; nil after a report.
func (r *Reader) Object(most int) *Value {
	src, ok := r.text(most)
	if !ok {
		return nil
	}
	v, err := parse(src, 0)
	switch {
	case err != nil:
		r.unreadable(err)
	case v.Kind != '{':
		r.holds(v, "an object")
	default:
		return v
	}
	return nil
}

// Objects reads the file as JSON objects: one, a list of them, one per line, or any of
// these as "data" of an envelope {"schema_version": …, "data": …}. Lines that cannot
// be read are reported one by one; the others are returned. nil after a report that
// concerns the whole file.
func (r *Reader) Objects() []*Value {
	src, ok := r.text(MaxBytes)
	if !ok {
		return nil
	}
	if v, err := parse(src, 0); err == nil {
		return r.unpack(v)
	} else if !isLines(src) {
		r.unreadable(err)
		return nil
	}
	var out []*Value
	end := 0
	for line := range bytes.Lines(src) {
		start := end
		end += len(line)
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		v, err := parse(bytes.TrimSuffix(src[:end], []byte("\n")), start)
		switch {
		case err != nil:
			r.unreadable(err)
		case v.Kind != '{':
			r.bad(v.Start, "The line holds %s, not an object.", Kinds[v.Kind])
		default:
			out = append(out, v)
		}
	}
	return out
}

// isLines reports whether a file that is not one JSON value is meant as one object a
// line: its first line that says something begins and ends like one.
func isLines(src []byte) bool {
	line, _, more := bytes.Cut(bytes.TrimSpace(src), []byte("\n"))
	line = bytes.TrimSpace(line)
	return more && line[0] == '{' && line[len(line)-1] == '}'
}

// unpack returns the objects that a value stands for.
func (r *Reader) unpack(v *Value) []*Value {
	if v.Kind == '{' {
		if data := v.Get("data"); data != nil && v.Get("schema_version") != nil {
			return r.unpack(data)
		}
		return []*Value{v}
	}
	if v.Kind != '[' {
		r.holds(v, "an object or a list of objects")
		return nil
	}
	for i, x := range v.Items {
		if x.Kind != '{' {
			r.Diags.Add(diag.Newf("bead-value", r.At(x), "item %d of the list is %s", i+1, Kinds[x.Kind]).WithDetail("%s has to be an object.", x.Pointer))
			return nil
		}
	}
	return v.Items
}

// Fields are the members of an object by their Plain names. A null is absent.
type Fields map[string]*Value

// Get returns the member with this name in any spelling, nil if it is absent.
func (f Fields) Get(name string) *Value { return f[Plain(name)] }

// Fields takes an object apart. known are the keys that have a meaning; all others
// are kept in ext, where nil keeps nothing.
func (r *Reader) Fields(v *Value, ext map[string]json.RawMessage, known ...string) Fields {
	out := Fields{}
	meant := lists.Set(lists.Map(known, Plain))
	first := make(map[string]Member, len(v.Members))
	for _, m := range v.Members {
		name := Plain(m.Name)
		at := r.File.Range(m.Start, m.End)
		if before, twice := first[name]; twice {
			r.Diags.Add(diag.Newf("bead-value", at, "the key %q appears twice", Clip(m.Name)).
				WithDetail("%s is the same key in another spelling, or the same one. Keep one of them.", before.Name).
				WithRelated(r.File.Range(before.Start, before.End), "first here"))
			continue
		}
		first[name] = m
		if meant[name] {
			if m.Value.Kind != '0' { // null is the same as leaving it out
				out[name] = m.Value
			}
			continue
		}
		r.unknown = append(r.unknown, stray{v.Pointer + "/" + Escape(m.Name), at})
		if ext != nil {
			ext[m.Name] = m.Value.Plain()
		}
	}
	return out
}

// Unknown reports the keys that Fields did not know, in one note.
func (r *Reader) Unknown() {
	if len(r.unknown) == 0 {
		return
	}
	const most = 8
	names := lists.Map(r.unknown, func(s stray) string { return s.pointer })
	r.Diags.Add(diag.Newf("bead-unknown-key", r.unknown[0].at, "ralph has no use for %d of its keys", len(r.unknown)).
		WithDetail("%s. They are kept in epic.json (nodes.ext.%s) and do nothing. If one of them is misspelt, correct it.", text.Some(names, most), r.Format))
}

// Wrong reports a value that does not fit; the detail begins with its pointer.
func (r *Reader) Wrong(v *Value, want string) {
	name := v.Pointer[strings.LastIndexByte(v.Pointer, '/')+1:]
	r.Diags.Add(diag.Newf("bead-value", r.At(v), "%s is not what it has to be", Clip(name)).
		WithDetail("%s has to be %s.", v.Pointer, want))
}

// Missing reports that an object lacks a key.
func (r *Reader) Missing(in *Value, key, what string) {
	r.Diags.Add(diag.Newf("bead-missing", r.File.Range(in.Start, in.Start+1), "%s is missing", key).
		WithDetail("%s/%s is %s. Add it to this object.", in.Pointer, key, what))
}

// Need returns a member of an object; nil after a report that it is missing.
func (r *Reader) Need(in *Value, f Fields, key, what string) *Value {
	x := f.Get(key)
	if x == nil {
		r.Missing(in, key, what)
	}
	return x
}

// Text returns a nonblank text; "" after a report, or of nil.
func (r *Reader) Text(v *Value, what string) string {
	if v == nil {
		return ""
	}
	if v.Kind != 's' || strings.TrimSpace(v.Text) == "" || strings.ContainsRune(v.Text, 0) {
		r.Wrong(v, what+", a text that is not empty")
		return ""
	}
	return v.Text
}

// MaxID is the longest id, in bytes: that of an annotation in a plan.
const MaxID = 64

var idPattern = lazyregexp.New(`^[A-Za-z0-9](?:[A-Za-z0-9_-]|\.[A-Za-z0-9_-])*$`)

// ValidID reports whether an id can be that of a node: it becomes a part of git's refs
// and of names of files, and "integration" is ralph's own.
func ValidID(id string) bool {
	return len(id) <= MaxID && idPattern.MatchString(id) && !strings.HasSuffix(id, ".lock") && id != "integration"
}

// ID reads the id of a node, which is its key too; false after a report.
func (r *Reader) ID(v *Value, what string, n *ir.DraftNode) bool {
	id := r.Text(v, what)
	if id == "" {
		return false
	}
	if !ValidID(id) {
		r.Wrong(v, fmt.Sprintf("letters, digits, \"-\", \"_\" and single dots, at most %d of them; ids become part of git's refs, and \"integration\" is ralph's own", MaxID))
		return false
	}
	n.ID, n.IDRange, n.Key, n.KeyRange = ir.NodeID(id), r.At(v), ir.Key(id), r.At(v)
	return true
}

// Is returns whether a value is of a kind; it reports one that is not, but not nil.
func (r *Reader) Is(v *Value, kind byte, want string) bool {
	if v != nil && v.Kind != kind {
		r.Wrong(v, want)
	}
	return v != nil && v.Kind == kind
}

// Whole returns a whole number in a range; false after a report, or of nil.
func (r *Reader) Whole(v *Value, lo, hi int64) (int64, bool) {
	if v == nil {
		return 0, false
	}
	n, err := json.Number(v.Text).Int64()
	if f, ferr := json.Number(v.Text).Float64(); err != nil && ferr == nil && f == float64(int64(f)) {
		n, err = int64(f), nil // 30.0
	}
	if v.Kind != 'n' || err != nil || n < lo || n > hi {
		r.Wrong(v, fmt.Sprintf("a whole number from %d to %d", lo, hi))
		return 0, false
	}
	return n, true
}

// Word returns one of the words that a key may have, in lower case; "" after a report, or of
// nil.
func (r *Reader) Word(v *Value, words ...string) string {
	if v == nil {
		return ""
	}
	if v.Kind == 's' {
		if w := strings.ToLower(v.Text); slices.Contains(words, w) {
			return w
		}
	}
	r.Wrong(v, "one of "+strings.Join(words, ", "))
	return ""
}

// Stated is a text of the file as a draft has it.
func (r *Reader) Stated(v *Value, text string) ir.Stated {
	return ir.Stated{Value: text, Range: r.At(v), Strict: true}
}

var noSlug = lazyregexp.New(`[^a-z0-9]+`)

// Slug makes the name of a gate or an epic of a text: lower case, one "-" for
// every run of other characters.
func Slug(s string) string {
	return strings.Trim(noSlug.ReplaceAllString(strings.ToLower(s), "-"), "-")
}

// Lines is a text with \n as its only line end.
func Lines(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

// FreeName is a name that is in none of names, counted up where it is, and puts it there.
func FreeName(names map[string]bool, wanted string) string {
	name := wanted
	for i := 2; names[name]; i++ {
		name = fmt.Sprintf("%s-%d", wanted, i)
	}
	names[name] = true
	return name
}

// Stem is the name of a file without folder and extension.
func Stem(file string) string { return strings.TrimSuffix(path.Base(file), path.Ext(file)) }

// Clip is a text of at most 40 characters, for messages.
func Clip(s string) string {
	const most = 40
	return text.Shorten(s, most)
}
