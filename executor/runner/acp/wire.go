package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"

	sdk "github.com/coder/acp-go-sdk"
)

// listener is told what a program says. Its functions may be nil.
type listener struct {
	line   func(line []byte)                               // every line, in order; it must not be kept
	update func(session string, u update)                  // session/update, in order, before any answer that follows it
	lost   func()                                          // a line was too long to be read
	ask    func(method string, params json.RawMessage) any // a request of the program; nil is refused. From any goroutine
}

// wire is the connection to a program. What it says is cut into lines here, and
// its updates are taken from the stream before the SDK sees it: the SDK gives up
// on a program that says more than it can queue, and on kinds of updates that it
// does not know.
type wire struct {
	listener
	conn *sdk.Connection
	in   *io.PipeWriter // what the SDK reads

	part    []byte // of a line, without its end
	toolong bool   // the rest of the line is left out
	refused atomic.Int64
}

// Bounds of a line, in bytes: of all, and of those that the SDK reads.
const (
	maxLine    = 64 << 20
	maxMessage = 8 << 20
)

func newWire(stdin io.Writer, l listener) *wire {
	r, w := io.Pipe()
	out := &wire{listener: l, in: w}
	out.conn = sdk.NewConnection(out.request, stdin, r)
	out.conn.SetLogger(slog.New(slog.DiscardHandler)) // before anything can be heard
	go func() {                                       // until end
		<-out.conn.Done()
		_ = r.Close() // always nil; who writes must not wait for a reader that is gone
	}()
	return out
}

// hear takes a piece of what the program says.
func (w *wire) hear(b []byte) {
	for len(b) > 0 {
		at := bytes.IndexByte(b, '\n')
		if at < 0 {
			w.keep(b)
			return
		}
		if len(w.part) == 0 && !w.toolong {
			w.take(b[:at])
		} else {
			w.keep(b[:at])
			w.endLine()
		}
		b = b[at+1:]
	}
}

func (w *wire) keep(b []byte) {
	if w.toolong || len(w.part)+len(b) > maxLine {
		w.part, w.toolong = nil, true
		return
	}
	w.part = append(w.part, b...)
}

func (w *wire) endLine() {
	line, long := w.part, w.toolong
	w.part, w.toolong = nil, false
	if long {
		w.tooLong()
		return
	}
	w.take(line)
}

func (w *wire) tooLong() {
	if w.line != nil {
		w.line([]byte("a line was too long to be read"))
	}
	if w.lost != nil {
		w.lost()
	}
}

// end says that nothing more comes.
func (w *wire) end() {
	if len(w.part) > 0 || w.toolong {
		w.endLine()
	}
	_ = w.in.Close() // always nil
}

// take takes a whole line. What is no message of the protocol is only kept:
// programs print other things, too.
func (w *wire) take(line []byte) {
	if w.line != nil {
		w.line(line)
	}
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
		Error  json.RawMessage `json:"error"`
	}
	if json.Unmarshal(line, &m) != nil {
		return
	}
	switch {
	case m.Method == sdk.ClientMethodSessionUpdate:
		var p struct {
			SessionID string `json:"sessionId"`
			Update    update `json:"update"`
		}
		if json.Unmarshal(m.Params, &p) == nil && w.update != nil {
			w.update(p.SessionID, p.Update)
		}
		return
	case m.Method != "" && len(m.ID) == 0:
		return // another notification
	case m.Method == "" && said(m.Error):
		w.refused.Add(1)
	}
	if len(line) > maxMessage {
		w.tooLong()
		return
	}
	_, _ = w.in.Write(append(bytes.Clone(line), '\n')) // an error is the end of the connection
}

// request answers the program's own requests, of which only those are known that
// the listener knows: a program that is told so goes on.
func (w *wire) request(_ context.Context, method string, params json.RawMessage) (any, *sdk.RequestError) {
	if w.ask != nil {
		if answer := w.ask(method, params); answer != nil {
			return answer, nil
		}
	}
	return nil, sdk.NewMethodNotFound(method)
}

// errGone says that the program ended, or does not listen any more.
var errGone = errors.New("the program is gone")

// call asks the program for something and waits for the answer. The error is the
// program's (a *sdk.RequestError), ctx's, errGone, or says that the answer could
// not be read. One call at a time.
func (w *wire) call(ctx context.Context, method string, params, into any) error {
	before := w.refused.Load()
	raw, err := sdk.SendRequest[json.RawMessage](w.conn, ctx, method, params)
	switch {
	case err == nil:
	case w.refused.Load() != before:
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	default:
		return errGone
	}
	if into == nil || !said(raw) {
		return nil
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("the answer to %s cannot be read: %w", method, err)
	}
	return nil
}

// said reports whether a field is there and not null.
func said(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }
