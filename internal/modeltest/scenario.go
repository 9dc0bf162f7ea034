package modeltest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// Scenario is what the model does.
type Scenario struct {
	// Rules are tried in order; the first whose Match is found counts. A turn that
	// no rule or no step is there for fails the test.
	Rules []Rule `json:"rules"`
	// Side answers requests without tools; "" is "Scripted".
	Side string `json:"side,omitempty"`
	// Bare takes requests without tools for turns like all others.
	Bare bool `json:"bare,omitempty"`
}

// Rule is the answer to one human text.
type Rule struct {
	Match string `json:"match"` // part of the last human text; "" is found in each
	Steps []Step `json:"steps"` // the first answers the text, the next the first round of tools, …
}

// Step is one answer of the model: text, tool calls, or both.
type Step struct {
	Text    string   `json:"text,omitempty"`
	Do      []Action `json:"do,omitempty"` // called in one message
	Fault   *Fault   `json:"fault,omitempty"`
	DelayMS int      `json:"delay_ms,omitempty"` // before the answer; less if the client goes
	Usage   Usage    `json:"usage,omitzero"`
}

// Usage are the token figures of one answer, the same in all protocols.
type Usage struct {
	Input      int `json:"input,omitempty"`       // without what the cache gave or took; 0 is 1000
	Output     int `json:"output,omitempty"`      // with reasoning; 0 is 50
	CacheRead  int `json:"cache_read,omitempty"`  //
	CacheWrite int `json:"cache_write,omitempty"` // only Anthropic tells; elsewhere it is input
	Reasoning  int `json:"reasoning,omitempty"`   // part of Output; only OpenAI tells
}

// Action is one tool call; exactly one field is set.
type Action struct {
	Write  *WriteAction    `json:"write,omitempty"`
	Bash   *BashAction     `json:"bash,omitempty"`
	Read   *ReadAction     `json:"read,omitempty"`
	Report json.RawMessage `json:"report,omitempty"` // arguments of the tool whose name ends in report_outcome
	Ask    *AskAction      `json:"ask,omitempty"`
	Call   *CallAction     `json:"call,omitempty"`
}

// WriteAction writes a file: with the agent's own tool, else with its shell.
type WriteAction struct {
	Path    string `json:"path"` // relative to the agent's directory, or absolute
	Content string `json:"content"`
}

// BashAction runs a command in the agent's shell.
type BashAction struct {
	Cmd string `json:"cmd"`
}

// ReadAction reads a file: with the agent's own tool, else with its shell.
type ReadAction struct {
	Path string `json:"path"`
}

// AskAction asks the person in front of the agent, with whatever tool it has for that.
type AskAction struct {
	Question string `json:"question"`
}

// CallAction calls the tool whose name is Name, or else the last whose name ends
// in it. If there is none it is called all the same, as models do.
type CallAction struct {
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"` // an object
}

// Write makes an action.
func Write(path, content string) Action { return Action{Write: &WriteAction{path, content}} }

// Bash makes an action.
func Bash(cmd string) Action { return Action{Bash: &BashAction{cmd}} }

// Read makes an action.
func Read(path string) Action { return Action{Read: &ReadAction{path}} }

// Ask makes an action.
func Ask(question string) Action { return Action{Ask: &AskAction{question}} }

// Report makes an action of anything that is a JSON object.
func Report(outcome any) Action { return Action{Report: object(outcome)} }

// Call makes an action; args is anything that is a JSON object.
func Call(name string, args any) Action { return Action{Call: &CallAction{name, object(args)}} }

func object(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("modeltest: arguments of a tool: %v", err))
	}
	return b
}

// Fault is what goes wrong instead of an answer.
type Fault struct {
	Kind    FaultKind         `json:"kind,omitempty"`
	Status  int               `json:"status,omitempty"` // of kind Refuse
	Headers map[string]string `json:"headers,omitempty"`
	Body    string            `json:"body,omitempty"`  // "" is an error as the protocol writes it
	Times   int               `json:"times,omitempty"` // how often it fails before it works; 0 is for ever
}

// FaultKind is a way in which a model server fails.
type FaultKind string

// Kinds of faults.
const (
	Refuse     FaultKind = ""            // an HTTP status
	Hang       FaultKind = "hang"        // headers, then nothing until the client goes or the server closes
	HangSilent FaultKind = "hang_silent" // not even headers
	Drop       FaultKind = "drop"        // the connection is closed without an answer
	Malformed  FaultKind = "malformed"   // a stream that is no JSON
	Truncate   FaultKind = "truncate"    // the stream ends in the middle of the text
)

// File reads a scenario from a file.
func File(path string) (Scenario, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return Scenario{}, err
	}
	s, err := Decode(b)
	if err != nil {
		return s, fmt.Errorf("scenario %s: %w", path, err)
	}
	return s, nil
}

// Decode reads a scenario from JSON. What it does not know is an error.
func Decode(b []byte) (Scenario, error) {
	var s Scenario
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return Scenario{}, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Scenario{}, errors.New("something stands behind the scenario's object")
	}
	return s, s.check()
}

func (s Scenario) check() error {
	for i, r := range s.Rules {
		if len(r.Steps) == 0 {
			return fmt.Errorf("rule %d (%q) has no steps", i, r.Match)
		}
		for j, st := range r.Steps {
			if err := st.check(); err != nil {
				return fmt.Errorf("rule %d (%q), step %d: %w", i, r.Match, j, err)
			}
		}
	}
	return nil
}

func (s Step) check() error {
	for i, a := range s.Do {
		set := 0
		for _, there := range []bool{a.Write != nil, a.Bash != nil, a.Read != nil, a.Report != nil, a.Ask != nil, a.Call != nil} {
			if there {
				set++
			}
		}
		if set != 1 {
			return fmt.Errorf("action %d has %d of write, bash, read, report, ask and call; it must have one", i, set)
		}
		args := a.Report
		if a.Call != nil {
			args = a.Call.Args
		}
		if b := bytes.TrimSpace(args); (a.Report != nil || a.Call != nil) && (len(b) == 0 || b[0] != '{') {
			return fmt.Errorf("action %d: the arguments of a tool must be an object, not %q", i, args)
		}
	}
	if f := s.Fault; f != nil {
		switch f.Kind {
		case Refuse:
			if f.Status < 400 || f.Status > 599 {
				return fmt.Errorf("a fault without a kind needs a status from 400 to 599, not %d", f.Status)
			}
		case Hang, HangSilent, Drop, Malformed, Truncate:
			if f.Status != 0 {
				return fmt.Errorf("a fault of kind %s has no status", f.Kind)
			}
		default:
			return fmt.Errorf("there is no fault of kind %q", f.Kind)
		}
	}
	if len(s.Do) == 0 && s.Text == "" && (s.Fault == nil || s.Fault.Times > 0) {
		return errors.New("it neither says nor does anything")
	}
	return nil
}
