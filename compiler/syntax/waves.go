package syntax

import (
	"encoding/json"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
)

// waves reads {"waves": [{"tasks": ["1.1", 2]}, …]}; why says what is not
// understood at a place, and is empty if all is.
func (p *parser) waves(from, to int) (waves []Wave, at diag.Range, why string) {
	d := json.NewDecoder(strings.NewReader(p.src[from:to]))
	d.UseNumber()
	w := waveReader{p: p, d: d, from: from, to: to}
	if why = w.document(); why != "" {
		return nil, w.at, why
	}
	return w.waves, diag.Range{}, ""
}

type waveReader struct {
	p        *parser
	d        *json.Decoder
	from, to int
	at       diag.Range // of the last token
	waves    []Wave
	bad      bool // the text is no JSON, or ends too soon
}

// start is where the next token begins.
func (w *waveReader) start() int {
	at := w.from + int(w.d.InputOffset())
	return w.to - len(strings.TrimLeft(w.p.src[at:w.to], " \t\r\n,:"))
}

// next reads a token and keeps its place.
func (w *waveReader) next() json.Token {
	start := w.start()
	t, err := w.d.Token()
	end := w.from + int(w.d.InputOffset())
	if err != nil {
		t, w.bad = nil, true
		end = lineEnd(w.p.src[:w.to], start)
		w.d = json.NewDecoder(strings.NewReader("")) // nothing more
	}
	w.at = w.p.file.Range(start, max(start, end))
	return t
}

const noJSON = "the text is not valid JSON"

func (w *waveReader) document() string {
	found := false
	why := w.each('{', "the text is not a JSON object", func() string {
		return w.field("waves", "\"waves\" appears twice", &found, func() string { return w.each('[', "\"waves\" is not an array", w.wave) })
	})
	if why == "" && !found {
		return "there is not an array \"waves\""
	}
	return why
}

func (w *waveReader) wave() string {
	at, found := w.start(), false
	wave := Wave{Range: w.p.file.Range(at, at+1)}
	why := w.each('{', "a wave is not an object", func() string {
		return w.field("tasks", "\"tasks\" appears twice in a wave", &found, func() string {
			return w.each('[', "\"tasks\" is not an array", func() string {
				switch t := w.next().(type) {
				case string:
					wave.Tasks = append(wave.Tasks, Stated{Value: t, Range: w.at})
				case json.Number:
					wave.Tasks = append(wave.Tasks, Stated{Value: t.String(), Range: w.at})
				default:
					return "a task is not an id"
				}
				return ""
			})
		})
	})
	if why == "" && !found {
		w.at = wave.Range
		return "a wave has no \"tasks\""
	}
	w.waves = append(w.waves, wave)
	return why
}

// each parses an object or an array: the opening delimiter, elements by means of read, the
// closing delimiter. It returns what is wrong; other is the message for any other value.
func (w *waveReader) each(open json.Delim, other string, read func() string) string {
	if w.next() != open {
		return other
	}
	for w.d.More() {
		if why := read(); why != "" {
			return why
		}
	}
	if w.next() != open+2 { // "}" is two after "{", "]" after "["
		return noJSON
	}
	return ""
}

// field reads a key and, for the one of a name, its value, which may be there once; other
// values are passed over.
func (w *waveReader) field(name, twice string, found *bool, read func() string) string {
	key, ok := w.next().(string)
	switch {
	case !ok, key != name && !w.skip():
		return noJSON
	case key != name:
		return ""
	case *found:
		return twice
	}
	*found = true
	return read()
}

// skip passes over a value.
func (w *waveReader) skip() bool {
	for depth := 0; ; {
		switch w.next() {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if w.bad || depth == 0 {
			return !w.bad
		}
	}
}
