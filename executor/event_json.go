package executor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/ralph-compiler/ralph/ir"
)

// EventVersion is the version of the events' form that this ralph writes. A
// later one is refused when read; readers of earlier ones are files of their own.
const EventVersion = 1

type wireEvent struct {
	V       int             `json:"v"`
	Seq     int64           `json:"seq"`
	At      int64           `json:"at"` // milliseconds since 1970, UTC
	Kind    string          `json:"kind"`
	Node    ir.NodeID       `json:"node,omitempty"`
	Step    string          `json:"step,omitempty"`
	Attempt int             `json:"attempt,omitempty"`
	Data    json.RawMessage `json:"data"`
}

// MarshalJSON writes the event as one line of JSON with its version.
func (e Event) MarshalJSON() ([]byte, error) {
	if e.Body == nil {
		return nil, fmt.Errorf("event %d has no body", e.Seq)
	}
	data, err := plainJSON(e.Body)
	if err != nil {
		return nil, fmt.Errorf("encode event %d (%s): %w", e.Seq, e.Kind(), err)
	}
	return plainJSON(wireEvent{EventVersion, e.Seq, e.At.UnixMilli(), e.Kind(), e.Node, e.Step, e.Attempt, data})
}

// UnmarshalJSON reads what MarshalJSON wrote. Unknown kinds, fields and later
// versions are errors: a journal is never half understood.
func (e *Event) UnmarshalJSON(b []byte) error {
	var w wireEvent
	if err := strictJSON(b, &w); err != nil {
		return fmt.Errorf("event: %w", err)
	}
	if w.V != EventVersion {
		return fmt.Errorf("event %d has version %d; this ralph reads version %d", w.Seq, w.V, EventVersion)
	}
	read, ok := kinds[w.Kind]
	if !ok {
		return fmt.Errorf("event %d: unknown kind %q", w.Seq, w.Kind)
	}
	body, err := read(w.Data)
	if err != nil {
		return fmt.Errorf("event %d (%s): %w", w.Seq, w.Kind, err)
	}
	*e = Event{Seq: w.Seq, At: time.UnixMilli(w.At).UTC(), Node: w.Node, Step: w.Step, Attempt: w.Attempt, Body: body}
	return nil
}

// kinds is the closed set of events.
var kinds = func() map[string]func([]byte) (Body, error) {
	m := map[string]func([]byte) (Body, error){}
	declare[RunStarted](m)
	declare[RunDraining](m)
	declare[RunEnded](m)
	declare[NodeStarted](m)
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
	return m
}()

func declare[B Body](m map[string]func([]byte) (Body, error)) {
	var zero B
	m[zero.kind()] = func(data []byte) (Body, error) {
		var b B
		err := strictJSON(data, &b)
		return b, err
	}
}

func strictJSON(b []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	return d.Decode(to)
}

func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}
