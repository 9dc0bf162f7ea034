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
	found    bool
	bad      bool // the text is no JSON, or ends too soon
}

// next reads a token and keeps its place.
func (w *waveReader) next() json.Token {
	start := w.from + int(w.d.InputOffset())
	for start < w.to && strings.IndexByte(" \t\r\n,:", w.p.src[start]) >= 0 {
		start++
	}
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

func (w *waveReader) document() string {
	if w.next() != json.Delim('{') {
		return "the text is no JSON object"
	}
	for w.d.More() {
		key, ok := w.next().(string)
		if !ok {
			return "the text is no JSON"
		}
		if key != "waves" {
			if !w.skip() {
				return "the text is no JSON"
			}
			continue
		}
		if w.found {
			return "\"waves\" stands twice"
		}
		w.found = true
		if w.next() != json.Delim('[') {
			return "\"waves\" is no array"
		}
		for w.d.More() {
			if why := w.wave(); why != "" {
				return why
			}
		}
		if w.next() != json.Delim(']') {
			return "the text is no JSON"
		}
	}
	if w.next() != json.Delim('}') {
		return "the text is no JSON"
	}
	if !w.found {
		return "there is no array \"waves\""
	}
	return ""
}

func (w *waveReader) wave() string {
	if w.next() != json.Delim('{') {
		return "a wave is no object"
	}
	wave := Wave{Range: w.at}
	tasks := false
	for w.d.More() {
		key, ok := w.next().(string)
		switch {
		case !ok:
			return "the text is no JSON"
		case key != "tasks":
			if !w.skip() {
				return "the text is no JSON"
			}
			continue
		case tasks:
			return "\"tasks\" stands twice in a wave"
		}
		tasks = true
		if w.next() != json.Delim('[') {
			return "\"tasks\" is no array"
		}
		for w.d.More() {
			switch t := w.next().(type) {
			case string:
				wave.Tasks = append(wave.Tasks, Stated{Value: t, Range: w.at})
			case json.Number:
				wave.Tasks = append(wave.Tasks, Stated{Value: t.String(), Range: w.at})
			default:
				return "a task is no id"
			}
		}
		if w.next() != json.Delim(']') {
			return "the text is no JSON"
		}
	}
	if w.next() != json.Delim('}') {
		return "the text is no JSON"
	}
	if !tasks {
		w.at = wave.Range
		return "a wave has no \"tasks\""
	}
	w.waves = append(w.waves, wave)
	return ""
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
