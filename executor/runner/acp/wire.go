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
	"github.com/ralph-compiler/ralph/internal/lines"
)

// listener receives a program's messages. Its functions may be nil.
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
	out  lines.Cutter   // of what the program prints

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
	out.out = lines.Cutter{Max: maxLine, Each: out.take}
	out.conn = sdk.NewConnection(out.request, stdin, r)
	out.conn.SetLogger(slog.New(slog.DiscardHandler)) // before anything can be heard
	go func() {                                       // until end
		<-out.conn.Done()
		_ = r.Close() // always nil; who writes must not wait for a reader that is gone
	}()
	return out
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
	_, _ = w.out.Close(), w.in.Close() // always nil
}

// take takes a whole line. What is no message of the protocol is only kept:
// programs print other things, too.
func (w *wire) take(line []byte, cut bool) error {
	if cut {
		w.tooLong()
		return nil
	}
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
		return nil
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
		return nil
	case m.Method != "" && len(m.ID) == 0:
		return nil // another notification
	case m.Method == "" && said(m.Error):
		w.refused.Add(1)
	}
	if len(line) > maxMessage {
		w.tooLong()
		return nil
	}
	_, _ = w.in.Write(append(bytes.Clone(line), '\n')) // an error is the end of the connection
	return nil
}

// request answers the program's own requests, of which only those are known that
// the listener knows: a program that gets this answer continues.
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
