package executor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/ralph-compiler/ralph/ir"
)

// EventVersion is the version of the event format that this ralph writes. A later one is
// refused when read; readers of earlier ones are files of their own.
const EventVersion = 1

type wireEvent struct {
	V       int             `json:"v"`
	Seq     int64           `json:"seq"`
	At      int64           `json:"at"` // milliseconds since 1970, UTC
	Kind    string          `json:"kind"`
	Node    ir.NodeID       `json:"node,omitempty"`
	Step    string          `json:"step,omitempty"`
	Attempt int             `json:"attempt,omitempty"`
	Of      int64           `json:"of,omitempty"`
	Data    json.RawMessage `json:"data"`
}

// MarshalJSON writes the event as one line of JSON with its version.
func (e Event) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil) }

// AppendJSON appends what MarshalJSON returns to b.
func (e Event) AppendJSON(b []byte) ([]byte, error) { return new(EventEncoder).Append(b, e) }

// EventEncoder writes events one after another with little garbage. The zero value is
// ready.
type EventEncoder struct {
	to   appender
	json *json.Encoder
}

// Append appends what Event.MarshalJSON returns to b.
func (x *EventEncoder) Append(b []byte, e Event) ([]byte, error) {
	if e.Body == nil {
		return nil, fmt.Errorf("event %d has no body", e.Seq)
	}
	b = append(b, `{"v":`...)
	b = strconv.AppendInt(b, EventVersion, 10)
	b = append(b, `,"seq":`...)
	b = strconv.AppendInt(b, e.Seq, 10)
	b = append(b, `,"at":`...)
	b = strconv.AppendInt(b, e.At.UnixMilli(), 10)
	b = append(b, `,"kind":"`...)
	b = append(b, e.Kind()...)
	b = append(b, '"')
	b = appendWord(b, "node", string(e.Node))
	b = appendWord(b, "step", e.Step)
	if e.Attempt != 0 {
		b = append(b, `,"attempt":`...)
		b = strconv.AppendInt(b, int64(e.Attempt), 10)
	}
	if e.Of != 0 {
		b = append(b, `,"of":`...)
		b = strconv.AppendInt(b, e.Of, 10)
	}
	b = append(b, `,"data":`...)
	if body, ok := e.Body.(EffectStarted); ok {
		return append(body.appendJSON(b), '}'), nil
	}
	if x.json == nil {
		x.json = json.NewEncoder(&x.to)
		x.json.SetEscapeHTML(false)
	}
	x.to.b = b
	if err := x.json.Encode(e.Body); err != nil {
		return nil, fmt.Errorf("encode event %d (%s): %w", e.Seq, e.Kind(), err)
	}
	b = append(bytes.TrimRight(x.to.b, "\n"), '}')
	x.to.b = nil
	return b, nil
}

// appendJSON appends what encoding/json gives: of all events more than a third are
// of this kind.
func (s EffectStarted) appendJSON(b []byte) []byte {
	b = append(b, `{"effect":`...)
	b = appendString(b, string(s.Kind))
	b = appendWord(b, "gate", s.Gate)
	if s.Iteration != 0 {
		b = append(b, `,"iteration":`...)
		b = strconv.AppendInt(b, int64(s.Iteration), 10)
	}
	if s.Redo {
		b = append(b, `,"redo":true`...)
	}
	return append(b, '}')
}

// appender collects what an encoder writes.
type appender struct{ b []byte }

func (a *appender) Write(p []byte) (int, error) {
	a.b = append(a.b, p...)
	return len(p), nil
}

// appendWord appends a field that holds a name; "" is left out.
func appendWord(b []byte, field, word string) []byte {
	if word == "" {
		return b
	}
	b = append(b, `,"`...)
	b = append(b, field...)
	b = append(b, `":`...)
	return appendString(b, word)
}

// appendString appends a name as JSON.
func appendString(b []byte, word string) []byte {
	if plainWord(word) {
		b = append(b, '"')
		b = append(b, word...)
		return append(b, '"')
	}
	to := appender{b}
	enc := json.NewEncoder(&to)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(word); err != nil {
		panic(err) // a string always has a form in JSON
	}
	return bytes.TrimRight(to.b, "\n")
}

// plainWord reports whether a word is in JSON as it is.
func plainWord(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// UnmarshalJSON reads what MarshalJSON wrote. Unknown kinds, fields and later
// versions are errors: a journal is never half understood.
func (e *Event) UnmarshalJSON(b []byte) (err error) {
	*e, err = new(EventDecoder).Decode(b)
	return err
}

// EventDecoder reads events one after another with little garbage. The zero value is
// ready.
type EventDecoder struct {
	from bytes.Reader
	json *json.Decoder
}

// Decode returns what Event.UnmarshalJSON reads.
func (x *EventDecoder) Decode(b []byte) (Event, error) {
	w, ok := envelope(b)
	if !ok {
		w = wireEvent{}
		if err := x.strict(b, &w); err != nil {
			return Event{}, fmt.Errorf("event: %w", err)
		}
	}
	if w.V != EventVersion {
		return Event{}, fmt.Errorf("event %d has version %d; this ralph reads version %d", w.Seq, w.V, EventVersion)
	}
	read, ok := kinds[w.Kind]
	if !ok {
		return Event{}, fmt.Errorf("event %d: unknown kind %q", w.Seq, w.Kind)
	}
	body, err := read(x, w.Data)
	if err != nil {
		return Event{}, fmt.Errorf("event %d (%s): %w", w.Seq, w.Kind, err)
	}
	return Event{Seq: w.Seq, At: time.UnixMilli(w.At).UTC(), Node: w.Node, Step: w.Step, Attempt: w.Attempt, Of: w.Of, Body: earlier(body)}, nil
}

// strict reads one value, and no field that is not known.
func (x *EventDecoder) strict(b []byte, to any) error {
	if x.json == nil {
		x.json = json.NewDecoder(&x.from)
		x.json.DisallowUnknownFields()
	}
	d := x.json
	x.from.Reset(b)
	began := d.InputOffset()
	if err := d.Decode(to); err != nil {
		x.json = nil // it cannot go on
		return err
	}
	rest := b[d.InputOffset()-began:]
	if len(rest) > 0 {
		x.json = nil
	}
	if rest = bytes.TrimSpace(rest); len(rest) > 0 {
		return fmt.Errorf("something follows its end: %.20q", rest)
	}
	return nil
}

// kinds is the closed set of events.
var kinds = func() map[string]func(*EventDecoder, []byte) (Body, error) {
	m := map[string]func(*EventDecoder, []byte) (Body, error){}
	declare[RunStarted](m)
	declare[RunDraining](m)
	declare[RunEnded](m)
	declare[NodeStarted](m)
	declare[InputsListed](m)
	declare[NodeResumed](m)
	declare[NodeWaiting](m)
	declare[NodeBlocked](m)
	declare[NodeDone](m)
	declare[AttemptStarted](m)
	declare[AttemptEnded](m)
	declare[EffectStarted](m)
	declare[EffectFailed](m)
	declare[BaseMade](m)
	declare[Prepared](m)
	declare[AgentEnded](m)
	declare[Collected](m)
	declare[GateJudged](m)
	declare[Published](m)
	declare[RunHeld](m)
	declare[RunnerParked](m)
	declare[TailLost](m)
	declare[Decided](m)
	declare[Diagnosed](m)
	declare[Landed](m)
	declare[Pulled](m)
	declare[PullSeen](m)
	declare[AgentSession](m)
	declare[WorkProposed](m)
	declare[HumanSpoke](m)
	declare[PreflightStarted](m)
	declare[BaselineJudged](m)
	declare[PreflightEnded](m)
	declare[RunRecovered](m)
	declare[NodeRecovered](m)
	declare[TamperSeen](m)
	declare[TamperUndone](m)
	return m
}()

// IsKind reports whether there are events of that kind (Event.Kind).
func IsKind(kind string) bool {
	_, is := kinds[kind]
	return is
}

func declare[B Body](m map[string]func(*EventDecoder, []byte) (Body, error)) {
	var zero B
	m[zero.EventName()] = func(x *EventDecoder, data []byte) (Body, error) {
		var b B
		if s, effect := any(&b).(*EffectStarted); effect {
			if short, ok := exactEffect(data); ok {
				*s = short
				return b, nil
			}
		}
		err := x.strict(data, &b)
		return b, err
	}
}
