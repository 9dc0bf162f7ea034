// Package redact takes secrets out of what is stored and printed: known values, in
// the forms in which programs write them, and texts that have the shape of a secret.
//
// In: values by name. Out: functions over text, and a filter for streams that finds
// a secret also where two writes meet. It imports only the standard library;
// cmd/ralph makes one Redactor for a run and gives it to whoever stores or prints.
package redact

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Least lengths in bytes of what is looked for: shorter values would blank words
// that are no secrets.
const (
	minValue   = 6
	minEncoded = 10 // of an encoded form
	minLine    = 16 // of one line of a value with several
)

// Redactor takes secrets out of texts. It may be used concurrently; nil takes out
// nothing.
type Redactor struct {
	needles []needle // longest first
	longest int      // of all needles, in bytes
}

// needle is one form of a value, and what stands in its place.
type needle struct {
	form  []byte
	place []byte
	name  string // of the value
}

// New returns a redactor for values by name. In their place stands [secret NAME].
// Short are the names of those that are too short to be looked for.
func New(values map[string]string) (r *Redactor, short []string) {
	r = &Redactor{}
	seen := map[string]bool{}
	for name, value := range values {
		if len(strings.TrimSpace(value)) < minValue {
			if value != "" {
				short = append(short, name)
			}
			continue
		}
		for _, form := range forms(value) {
			if !seen[form] {
				seen[form] = true
				r.needles = append(r.needles, needle{[]byte(form), []byte("[secret " + name + "]"), name})
				r.longest = max(r.longest, len(form))
			}
		}
	}
	slices.SortFunc(r.needles, func(a, b needle) int {
		return cmp.Or(cmp.Compare(len(b.form), len(a.form)), bytes.Compare(a.place, b.place), bytes.Compare(a.form, b.form))
	})
	slices.Sort(short)
	return r, short
}

// forms lists how programs write a value: as it is, trimmed, its long lines, in
// JSON, in a URL, in hexadecimal, and in base64 at each of the three places at which
// it can stand in a longer text.
func forms(value string) []string {
	plain := []string{value, strings.TrimSpace(value)}
	if lines := strings.Split(value, "\n"); len(lines) > 1 {
		for _, l := range lines {
			if l = strings.TrimSpace(l); len(l) >= minLine && !strings.HasPrefix(l, "-----") {
				plain = append(plain, l)
			}
		}
	}
	out := slices.Clone(plain)
	add := func(s string) {
		if len(s) >= minEncoded {
			out = append(out, s)
		}
	}
	for _, v := range plain {
		for _, html := range []bool{true, false} {
			out = append(out, quoted(v, html))
		}
		for _, s := range []string{url.QueryEscape(v), url.PathEscape(v)} {
			out = append(out, s, lowerEscapes(s))
		}
		for _, f := range encoded(v) {
			add(f)
		}
		add(hex.EncodeToString([]byte(v)))
		add(strings.ToUpper(hex.EncodeToString([]byte(v))))
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			for skip := range 3 {
				add(within(enc, v, skip))
			}
		}
	}
	return out
}

// encoded lists how other languages write a value in a URL (what they leave as it is
// differs), in HTML, and in JSON that stands in JSON.
func encoded(v string) []string {
	var out []string
	for _, safe := range []string{"-_.~/", "-_.~", "-_.", "-_.!~*'()", "-_.!~*'();/?:@&=+$,#", ""} { // Python, RFC 3986, Java, JavaScript's two, everything
		s := percent(v, safe, true)
		out = append(out, s, lowerEscapes(s))
		out = append(out, strings.ReplaceAll(s, "%", "%25"))
		if strings.Contains(v, " ") {
			out = append(out, strings.ReplaceAll(s, "%20", "+"))
		}
	}
	every := percent(v, "", false)
	out = append(out, every, lowerEscapes(every))
	for _, quotes := range [][2]string{{"&quot;", "&#39;"}, {"&#34;", "&#39;"}, {"&quot;", "&#x27;"}, {"&quot;", "&apos;"}, {"&quot;", "'"}, {"\"", "'"}, {"&quot;", "&#039;"}} {
		for _, slash := range []string{"/", "&#x2F;", "&#47;"} {
			out = append(out, strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, quotes[0], "'", quotes[1], "/", slash).Replace(v))
		}
	}
	for _, html := range []bool{true, false} {
		twice := quoted(quoted(v, html), html)
		out = append(out, twice, quoted(twice, html))
	}
	return append(out, strings.ReplaceAll(quoted(v, false), "/", `\/`), strings.ReplaceAll(v, "/", `\/`))
}

// percent writes bytes as %2F, but letters and digits, if plain, and those that are safe.
func percent(v, safe string, plain bool) string {
	var b strings.Builder
	for _, c := range []byte(v) {
		if plain && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9') || strings.IndexByte(safe, c) >= 0 {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}

// quoted is a value inside a JSON string.
func quoted(v string, html bool) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(html)
	_ = e.Encode(v) // a string always can
	return strings.Trim(strings.TrimSuffix(b.String(), "\n"), `"`)
}

// lowerEscapes writes %2F as %2f.
func lowerEscapes(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:], bytes.ToLower(b[i+1:i+3]))
		}
	}
	return string(b)
}

// within is the part of an encoded text that a value determines alone, when so many
// bytes stand before it.
func within(enc *base64.Encoding, v string, before int) string {
	s := enc.EncodeToString(append(make([]byte, before), v...))
	from := (before*8 + 5) / 6
	whole := (before + len(v)) * 8 / 6 // characters without a bit of what follows
	return s[min(from, whole):whole]
}

// String takes the secrets out of a text.
func (r *Redactor) String(s string) string {
	if r == nil || s == "" {
		return s
	}
	return string(r.bytes([]byte(s)))
}

// Bytes takes the secrets out of a text, which it does not change.
func (r *Redactor) Bytes(b []byte) []byte {
	if r == nil || len(b) == 0 {
		return b
	}
	return r.bytes(b)
}

func (r *Redactor) bytes(b []byte) []byte {
	for _, n := range r.needles {
		if bytes.Contains(b, n.form) {
			b = bytes.ReplaceAll(b, n.form, n.place)
		}
	}
	for i := range shapes {
		b = shapes[i].replace(b)
	}
	return b
}

// opens returns how many bytes at the end of b may be the beginning of a value.
func (r *Redactor) opens(b []byte) int {
	most := 0
	for _, n := range r.needles {
		for k := min(len(n.form)-1, len(b)); k > most; k-- {
			if bytes.HasSuffix(b, n.form[:k]) {
				most = k
				break
			}
		}
	}
	return most
}
