package modeltest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// fields is a JSON object.
type fields = map[string]any

// answer is what the model says to one request, on its way to the agent.
type answer struct {
	w       http.ResponseWriter
	id      string
	model   string
	created int64 // seconds since 1970
	stream  bool
	text    string
	calls   []Called
	usage   Usage
	cut     bool // ends in the middle of the text
}

// send writes it in the words of a protocol.
func (a answer) send(p Protocol) {
	if a.usage.Input == 0 {
		a.usage.Input = 1000
	}
	if a.usage.Output == 0 {
		a.usage.Output = 50
	}
	if a.stream {
		a.w.Header().Set("Content-Type", "text/event-stream")
		a.w.Header().Set("Cache-Control", "no-cache")
	}
	switch p {
	case Chat:
		a.chat()
	case Responses:
		a.responses()
	case Messages:
		a.messages()
	}
}

// pieces is the text in the parts in which it is streamed; of a cut text it is the
// first half.
func (a answer) pieces() []string {
	half := len(a.text) / 2
	for half > 0 && half < len(a.text) && a.text[half]&0xC0 == 0x80 {
		half--
	}
	var out []string
	if half > 0 {
		out = append(out, a.text[:half])
	}
	if half < len(a.text) && !a.cut {
		out = append(out, a.text[half:])
	}
	return out
}

// event streams one server-sent event; kind may be "".
func (a answer) event(kind string, v any) {
	if kind != "" {
		a.line("event: " + kind + "\n")
	}
	b, _ := json.Marshal(v) // made of JSON values
	a.line(fmt.Sprintf("data: %s\n\n", b))
	if f, ok := a.w.(http.Flusher); ok {
		f.Flush()
	}
}

// line writes to the agent; one that is gone is no error of the model's.
func (a answer) line(s string) { _, _ = io.WriteString(a.w, s) }

// whole answers without a stream.
func (a answer) whole(v any) { writeJSON(a.w, http.StatusOK, v) }

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a client that is gone is no error of the model's
}
