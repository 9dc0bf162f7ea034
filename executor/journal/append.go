package journal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"unsafe"

	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/ralph-compiler/ralph/executor"
)

// manyRows is how many events one statement inserts where a batch has as many. OR FAIL:
// the transaction undoes an insert that fails, so SQLite need not be able to undo the
// statement alone, for which it writes a journal of its own.
const manyRows = 16

// maxKept is the largest buffer that is kept for the next batch, in bytes.
const maxKept = 256 << 10

const insertOne = "INSERT OR FAIL INTO events(seq, hash, body) VALUES (?, ?, ?)"

var insertMany = insertOne + strings.Repeat(", (?, ?, ?)", manyRows-1)

// Append implements executor.Journal.
func (l *Log) Append(ctx context.Context, events []executor.Event) (err error) {
	defer l.guard(&err)()
	if l.dead != nil {
		return fmt.Errorf("append to journal: %w", l.dead)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(events) == 0 {
		return nil
	}
	var last int64
	var hash string
	defer func() {
		if err != nil {
			// What was written is known only after opening the file again.
			l.dead = err
			err = fmt.Errorf("append to journal: %w", err)
			return
		}
		l.last, l.hash = last, hash
		if cap(l.buf) > maxKept {
			l.buf, l.ends = nil, nil
		}
	}()
	// All of it is made before the transaction begins.
	if last, hash, err = l.link(events); err != nil {
		return err
	}
	end, err := sqlitex.ImmediateTransaction(l.conn)
	if err != nil {
		return err
	}
	defer end(&err) // the commit point
	if err := l.insert(events); err != nil {
		return err
	}
	for _, e := range events {
		if d, ok := e.Body.(executor.Decided); ok {
			if err := l.taken(d.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// link writes events into l.buf in one piece: each event's link to the one before, its
// body, and its hash, which is the next one's link. It returns the last one's.
func (l *Log) link(events []executor.Event) (last int64, hash string, err error) {
	buf, ends, link := l.buf[:0], l.ends[:0], []byte(l.hash)
	last = l.last
	for _, e := range events {
		if !follows(last, e) {
			return last, "", fmt.Errorf("event %d does not follow event %d", e.Seq, last)
		}
		from := len(buf)
		buf = linkTo(buf, link)
		body := len(buf)
		if buf, err = l.enc.Append(buf, e); err != nil {
			return last, "", err
		}
		end := len(buf)
		buf = appendHash(buf, buf[from:])
		ends = append(ends, body, end)
		last, link = e.Seq, buf[end:]
	}
	l.buf, l.ends = buf, ends
	return last, string(link), nil
}

// insert puts events into the file whose bodies and hashes are in l.buf.
func (l *Log) insert(events []executor.Event) error {
	text := unsafe.String(unsafe.SliceData(l.buf), len(l.buf)) // BindText copies what it is given
	for i := 0; i < len(events); {
		n, query := 1, insertOne
		if len(events)-i >= manyRows {
			n, query = manyRows, insertMany
		}
		insert := l.conn.Prep(query)
		for k := range n {
			body, end := l.ends[2*(i+k)], l.ends[2*(i+k)+1]
			insert.BindInt64(3*k+1, events[i+k].Seq)
			insert.BindText(3*k+2, text[end:end+2*sha256.Size])
			insert.BindText(3*k+3, text[body:end])
		}
		if _, err := insert.Step(); err != nil {
			return err
		}
		if err := insert.Reset(); err != nil {
			return err
		}
		i += n
	}
	return nil
}

// follows reports whether an event may follow the one numbered last: the
// next one, or the record of a lost tail, which says itself after which event
// the journal had ended.
func follows(last int64, e executor.Event) bool {
	if e.Seq == last+1 {
		return true
	}
	lost, ok := e.Body.(executor.TailLost)
	return ok && e.Seq > last && lost.After == last
}

// linkTo appends what the hash of an event begins with: that of the event before,
// and its length.
func linkTo(b, before []byte) []byte {
	b = strconv.AppendInt(b, int64(len(before)), 10)
	return append(append(b, ':'), before...)
}

// appendHash appends the hash of an event: of its link and its body.
func appendHash(to, linked []byte) []byte {
	sum := sha256.Sum256(linked)
	return hex.AppendEncode(to, sum[:])
}
