package journal

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// File is the journal's name inside a state directory.
const File = "journal.db"

// Log is an open journal. It is owned by one goroutine.
type Log struct {
	conn   *sqlite.Conn
	format int64
	last   int64  // sequence number of the last event written
	hash   string // of that event
	dead   error  // why nothing more can be written
	cut    bool   // the connection cannot be used any more
	seen   int64  // data_version at which the inbox was empty
	read   int64  // data_version before the events were read last
	enc    executor.EventEncoder
	dec    executor.EventDecoder
	buf    []byte // of Append and Events
	ends   []int  // of Append
}

var _ executor.Journal = (*Log)(nil)

// ErrNone is returned by Read when there is no journal yet.
var ErrNone = errors.New("no journal")

// Damage is the error of a journal that is not as ralph wrote it.
type Damage struct {
	Path string
	Seq  int64 // of the first event that is wrong
	What string
}

func (d *Damage) Error() string {
	return fmt.Sprintf("journal %s is damaged at event %d: %s", d.Path, d.Seq, d.What)
}

// Open opens or creates the journal of an epic in dir, for writing. The caller
// holds the lock. The whole chain is checked when the events are read, which
// must be done before the first Append.
func Open(dir string, epic ir.NodeID) (*Log, error) {
	path := filepath.Join(dir, File)
	if err := own(dir); err != nil {
		return nil, fmt.Errorf("open journal %s: %w", path, err)
	}
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite|sqlite.OpenCreate)
	if err != nil {
		return nil, fmt.Errorf("open journal %s: %w", path, err)
	}
	l := &Log{conn: conn}
	if err := l.prepare(path, epic); err != nil {
		return nil, errors.Join(fmt.Errorf("open journal %s: %w", path, err), conn.Close())
	}
	return l, nil
}

// Read opens the journal of an epic in dir for reading only; a writer may be at
// work. It returns ErrNone if there is none.
func Read(dir string, epic ir.NodeID) (*Log, error) { return open(dir, epic, sqlite.OpenReadOnly) }

// open opens a journal that is there, not for appending.
func open(dir string, epic ir.NodeID, flags sqlite.OpenFlags) (*Log, error) {
	path := filepath.Join(dir, File)
	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
		return nil, ErrNone
	}
	if err := own(dir); err != nil {
		return nil, fmt.Errorf("open journal %s: %w", path, err)
	}
	conn, err := sqlite.OpenConn(path, flags)
	if err != nil {
		return nil, fmt.Errorf("open journal %s: %w", path, err)
	}
	l := &Log{conn: conn, dead: errors.New("opened for reading")}
	if tables, err := l.number("SELECT count(*) FROM sqlite_schema"); err == nil && tables == 0 {
		return nil, errors.Join(ErrNone, conn.Close()) // it is just being created
	}
	if err := l.check(epic); err != nil {
		return nil, errors.Join(fmt.Errorf("open journal %s: %w", path, err), conn.Close())
	}
	return l, nil
}

const (
	// pageSize is of new files, in bytes; an older one keeps its own. With the usual 4 KiB a
	// commit of many events takes a tenth more CPU; one of a single event takes no more, and
	// writes a quarter of the bytes.
	pageSize = 16 << 10
	// walSize is how large the write-ahead log becomes before it is merged into the file, in bytes.
	walSize = 16 << 20
)

func (l *Log) prepare(path string, epic ir.NodeID) error {
	set := func(pragma string) error { return sqlitex.ExecuteTransient(l.conn, "PRAGMA "+pragma, nil) }
	for _, pragma := range []string{fmt.Sprint("page_size=", pageSize), "journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "busy_timeout=5000"} {
		if err := set(pragma); err != nil {
			return err
		}
	}
	page, err := l.number("PRAGMA page_size")
	if err == nil {
		err = set(fmt.Sprint("wal_autocheckpoint=", walSize/page))
	}
	if err != nil {
		return err
	}
	version, err := l.number("PRAGMA user_version")
	if err != nil {
		return err
	}
	if version != 0 {
		if err := l.check(epic); err != nil || version == format {
			return err
		}
		return l.migrate(version)
	}
	if tables, err := l.number("SELECT count(*) FROM sqlite_schema"); err != nil || tables > 0 {
		return errors.Join(err, fmt.Errorf("it is an SQLite file of another program"))
	}
	if err := l.create(epic); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// create lays the file out, in one transaction: a crash leaves an empty file.
func (l *Log) create(epic ir.NodeID) (err error) {
	end, err := sqlitex.ImmediateTransaction(l.conn)
	if err != nil {
		return err
	}
	defer end(&err)
	if err := sqlitex.ExecuteScript(l.conn, layout, nil); err != nil {
		return err
	}
	l.format = format
	return sqlitex.Execute(l.conn, "INSERT INTO meta(name, value) VALUES ('epic', ?)", &sqlitex.ExecOptions{Args: []any{string(epic)}})
}

// check refuses files that this ralph does not understand or that belong to
// another epic.
func (l *Log) check(epic ir.NodeID) error {
	app, err := l.number("PRAGMA application_id")
	if err != nil {
		return err
	}
	version, err := l.number("PRAGMA user_version")
	if err != nil {
		return err
	}
	l.format = version
	switch {
	case app != applicationID:
		return fmt.Errorf("it is not a journal of ralph")
	case version > format:
		return fmt.Errorf("it has format %d, and this ralph reads up to %d: use the newer ralph", version, format)
	}
	var owner string
	err = sqlitex.Execute(l.conn, "SELECT value FROM meta WHERE name = 'epic'", &sqlitex.ExecOptions{
		ResultFunc: func(s *sqlite.Stmt) error { owner = s.ColumnText(0); return nil },
	})
	if err == nil && owner != string(epic) {
		err = fmt.Errorf("it belongs to epic %q, not to %q", owner, epic)
	}
	return err
}

func (l *Log) number(query string) (n int64, err error) {
	err = sqlitex.ExecuteTransient(l.conn, query, &sqlitex.ExecOptions{
		ResultFunc: func(s *sqlite.Stmt) error { n = s.ColumnInt64(0); return nil },
	})
	return n, err
}

// Events yields every event and checks the chain on the way. After it has reached the
// end without an error, Append may be called.
func (l *Log) Events(ctx context.Context) iter.Seq2[executor.Event, error] {
	return l.eventsAfter(ctx, 0, "")
}

// Fresh yields the events that were written after the last one that was read, and
// continues the chain. While nobody has written, it costs one read of a counter.
func (l *Log) Fresh(ctx context.Context) iter.Seq2[executor.Event, error] {
	return func(yield func(executor.Event, error) bool) {
		version, err := l.version()
		if err == nil && version == l.read {
			return
		}
		if err != nil {
			yield(executor.Event{}, fmt.Errorf("read journal: %w", err))
			return
		}
		l.eventsAfter(ctx, l.last, l.hash)(yield)
	}
}

// version changes when another connection has written.
func (l *Log) version() (_ int64, err error) {
	defer l.guard(&err)()
	return l.number("PRAGMA data_version")
}

// eventsAfter yields the events after a sequence number, whose event has a hash.
func (l *Log) eventsAfter(ctx context.Context, last int64, after string) iter.Seq2[executor.Event, error] {
	return func(yield func(executor.Event, error) bool) {
		version, err := l.version()
		if err != nil {
			yield(executor.Event{}, fmt.Errorf("read journal: %w", err))
			return
		}
		stopped := errors.New("stopped")
		last, hash := last, append(make([]byte, 0, 2*sha256.Size), after...)
		var stored [2 * sha256.Size]byte
		err = l.each("SELECT seq, hash, body FROM events WHERE seq > ? ORDER BY seq", &sqlitex.ExecOptions{
			Args: []any{last},
			ResultFunc: func(s *sqlite.Stmt) error {
				seq := s.ColumnInt64(0)
				l.buf = linkTo(l.buf[:0], hash)
				at, n := len(l.buf), s.ColumnLen(2)
				l.buf = slices.Grow(l.buf, n)[:at+n]
				body := l.buf[at:]
				s.ColumnBytes(2, body)
				hash = appendHash(hash[:0], l.buf)
				fits := s.ColumnLen(1) == len(stored) && s.ColumnBytes(1, stored[:]) == len(stored) && bytes.Equal(hash, stored[:])
				e, err := l.checked(body, seq, last, fits)
				if err != nil {
					return err
				}
				last = seq
				if ctx.Err() != nil {
					return ctx.Err()
				}
				if !yield(e, nil) {
					return stopped
				}
				return nil
			},
		})
		switch {
		case err == nil:
			l.last, l.hash, l.read = last, string(hash), version
		case !errors.Is(err, stopped):
			l.dead = err
			yield(executor.Event{}, fmt.Errorf("read journal: %w", err))
		}
	}
}

// checked decodes an event, and checks that it follows the event numbered last. fits
// reports whether its hash is that of the chain.
func (l *Log) checked(body []byte, seq, last int64, fits bool) (executor.Event, error) {
	damage := func(format string, args ...any) error {
		return &Damage{Path: File, Seq: last + 1, What: fmt.Sprintf(format, args...)}
	}
	if seq == last+1 && !fits {
		return executor.Event{}, damage("its hash does not match what is there")
	}
	e, err := l.dec.Decode(body)
	switch {
	case err != nil && seq == last+1:
		return e, damage("%v", err)
	case seq != last+1 && (!fits || !follows(last, e)):
		return e, damage("it is missing; the next one is %d", seq)
	case e.Seq != seq:
		return e, damage("it says that it is event %d", e.Seq)
	}
	return e, nil
}

// each runs a query that others may cut off.
func (l *Log) each(query string, options *sqlitex.ExecOptions) (err error) {
	defer l.guard(&err)()
	return sqlitex.Execute(l.conn, query, options)
}

// Last returns the sequence number of the last event, after the events were read.
func (l *Log) Last() int64 { return l.last }

// Close implements executor.Journal.
func (l *Log) Close() (err error) {
	if l.cut {
		return nil // said already
	}
	defer l.guard(&err)()
	return l.conn.Close()
}

// syncDir makes the names in a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
