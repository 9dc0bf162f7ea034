package claude

import (
	"encoding/json"
	"os"
	"strings"
	"sync"
)

// input is the program's stdin, a line of JSON each. Its methods may
// be called from any goroutine and return at once.
type input struct {
	mu     sync.Mutex // guards the rest
	queue  [][]byte
	closed bool
	wake   chan struct{}
}

func newInput() *input { return &input{wake: make(chan struct{}, 1)} }

func (in *input) nudge() {
	select {
	case in.wake <- struct{}{}:
	default:
	}
}

func (in *input) send(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		return // what is sent always can be marshalled
	}
	in.mu.Lock()
	if !in.closed {
		in.queue = append(in.queue, append(b, '\n'))
	}
	in.mu.Unlock()
	in.nudge()
}

// close ends the conversation: the program then ends when its turn is over.
func (in *input) close() {
	in.mu.Lock()
	in.closed = true
	in.mu.Unlock()
	in.nudge()
}

// pump writes to the program until the input is closed or the program gone, of
// which done tells. A program that does not read blocks nothing: closing w ends it.
func (in *input) pump(w *os.File, done <-chan struct{}) {
	defer w.Close()
	for {
		in.mu.Lock()
		queue, closed := in.queue, in.closed
		in.queue = nil
		in.mu.Unlock()
		for _, b := range queue {
			if _, err := w.Write(b); err != nil {
				return
			}
		}
		if closed {
			return
		}
		select {
		case <-in.wake:
		case <-done:
			return
		}
	}
}

type message struct {
	Type    string  `json:"type"`
	Message content `json:"message"`
}

type content struct {
	Role    string `json:"role"`
	Content []part `json:"content"`
}

type part struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// prompt sends the prompt.
func (in *input) prompt(b []byte) {
	s := string(b)
	if strings.HasPrefix(strings.TrimSpace(s), "/") {
		s = "Your task:\n\n" + s // else it is taken for a command
	}
	in.send(message{Type: "user", Message: content{Role: "user", Content: []part{{"text", s}}}})
}

// interrupt ends the turn in good order.
func (in *input) interrupt() {
	in.send(map[string]any{"type": "control_request", "request_id": "ralph-end", "request": map[string]string{"subtype": "interrupt"}})
}

// unanswered tells the program that there is no one to answer its question.
func (in *input) unanswered(id string) {
	in.send(map[string]any{"type": "control_response", "response": map[string]string{"subtype": "error", "request_id": id, "error": "nobody answers questions here; go on without it"}})
}
