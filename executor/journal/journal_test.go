package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
)

func TestContract(t *testing.T) {
	dir := t.TempDir()
	executortest.JournalContract(t, func(t *testing.T) executor.Journal {
		t.Helper()
		l, err := Open(dir, "bd-epic")
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range l.Events(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
		}
		return l
	})
}

func TestTheFakeKeepsTheContract(t *testing.T) {
	fake := &executortest.Journal{}
	executortest.JournalContract(t, func(*testing.T) executor.Journal {
		fake = &executortest.Journal{Kept: fake.Kept}
		return fake
	})
}

// filled returns a directory with a journal of n events.
func filled(t testing.TB, n int) string {
	t.Helper()
	dir := t.TempDir()
	l, err := Open(dir, "bd-epic")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Append(context.Background(), events(1, n)); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func events(from int64, n int) []executor.Event {
	var out []executor.Event
	for i := range int64(n) {
		out = append(out, executor.Event{
			Seq: from + i, At: time.UnixMilli(from + i).UTC(), Node: "bd-1", Step: "implement", Attempt: 1,
			Body: executor.EffectStarted{Kind: executor.EffectGate, Gate: "unit"},
		})
	}
	return out
}

// TestABatchIsWrittenWholeOrNotAtAll: wherever in a batch of several statements one
// fails, nothing of the batch is there.
func TestABatchIsWrittenWholeOrNotAtAll(t *testing.T) {
	for _, taken := range []int64{1, manyRows, manyRows + 5, 2*manyRows + 3} {
		dir := t.TempDir()
		l, err := Open(dir, "bd-epic")
		if err != nil {
			t.Fatal(err)
		}
		if err := sqlitex.Execute(l.conn, "INSERT INTO events(seq, hash, body) VALUES (?, '', '')", &sqlitex.ExecOptions{Args: []any{taken}}); err != nil {
			t.Fatal(err)
		}
		if err := l.Append(t.Context(), events(1, 2*manyRows+4)); err == nil {
			t.Errorf("event %d was written twice", taken)
		}
		if n, err := l.number("SELECT count(*) FROM events"); n != 1 || err != nil {
			t.Errorf("after a batch that failed at event %d there are %d events, want 1 (%v)", taken, n, err)
		}
		if err := l.Append(t.Context(), events(1, 1)); err == nil {
			t.Error("an event was accepted after an error")
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// What a large batch took is given back, and those that follow are linked to it.
func TestALargeBatchKeepsNoRoom(t *testing.T) {
	dir := t.TempDir()
	l, err := Open(dir, "bd-epic")
	if err != nil {
		t.Fatal(err)
	}
	const many = 2000
	for _, batch := range [][]executor.Event{events(1, many), events(many+1, 1)} {
		if err := l.Append(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		if cap(l.buf) > maxKept {
			t.Errorf("after a batch of %d events %d bytes are kept, want at most %d", len(batch), cap(l.buf), maxKept)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := readAll(dir); n != many+1 || err != nil {
		t.Errorf("got %d events and %v, want %d", n, err, many+1)
	}
}

// readAll returns how many events a journal gives, and its error.
func readAll(dir string) (n int, err error) {
	l, err := Open(dir, "bd-epic")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	for _, err := range l.Events(context.Background()) {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

func TestDamageIsNamedByItsSequenceNumber(t *testing.T) {
	for name, c := range map[string]struct{ sql, want string }{
		"a changed body":        {"UPDATE events SET body = replace(body, 'unit', 'none') WHERE seq = 3", "damaged at event 3"},
		"a changed hash":        {"UPDATE events SET hash = 'x' WHERE seq = 2", "damaged at event 2"},
		"a missing event":       {"DELETE FROM events WHERE seq = 4", "damaged at event 4"},
		"an event that is none": {"UPDATE events SET body = '{}' WHERE seq = 5", "damaged at event 5"},
		"an added event":        {"INSERT INTO events VALUES (7, 'x', '{}')", "damaged at event 7"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filled(t, 6)
			conn, err := sqlite.OpenConn(filepath.Join(dir, File))
			if err != nil {
				t.Fatal(err)
			}
			err = sqlitex.ExecuteTransient(conn, c.sql, nil)
			if !strings.HasPrefix(c.sql, "INSERT") && err == nil {
				t.Error("the file let an event be changed")
			}
			for _, trigger := range []string{"events_stay", "events_keep"} {
				if err := sqlitex.ExecuteTransient(conn, "DROP TRIGGER "+trigger, nil); err != nil {
					t.Fatal(err)
				}
			}
			if !strings.HasPrefix(c.sql, "INSERT") {
				if err := sqlitex.ExecuteTransient(conn, c.sql, nil); err != nil {
					t.Fatal(err)
				}
			}
			if err := conn.Close(); err != nil {
				t.Fatal(err)
			}
			var damage *Damage
			if _, err := readAll(dir); !errors.As(err, &damage) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestOtherFilesAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(dir string) error
		want string
	}{
		"not a database": {func(d string) error {
			return os.WriteFile(filepath.Join(d, File), []byte(strings.Repeat("no database ", 100)), 0o600)
		}, "not a database"},
		"a database of another program": {func(d string) error {
			conn, err := sqlite.OpenConn(filepath.Join(d, File))
			if err != nil {
				return err
			}
			return errors.Join(sqlitex.ExecuteTransient(conn, "CREATE TABLE t (x)", nil), conn.Close())
		}, "another program"},
		"a journal of another epic": {func(d string) error {
			l, err := Open(d, "bd-other")
			if err != nil {
				return err
			}
			return l.Close()
		}, `belongs to epic "bd-other"`},
		"a journal of a later ralph": {func(d string) error {
			l, err := Open(d, "bd-epic")
			if err != nil {
				return err
			}
			return errors.Join(sqlitex.ExecuteTransient(l.conn, "PRAGMA user_version=99", nil), l.Close())
		}, "use the newer ralph"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := c.do(dir); err != nil {
				t.Fatal(err)
			}
			if _, err := Open(dir, "bd-epic"); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestReadLooksWithoutTheLock(t *testing.T) {
	if _, err := Read(t.TempDir(), "bd-epic"); !errors.Is(err, ErrNone) {
		t.Errorf("got %v, want ErrNone", err)
	}
	l, err := Read(filled(t, 3), "bd-epic")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := l.Append(t.Context(), events(4, 1)); err == nil {
		t.Error("a reader wrote")
	}
}

// TestHelperHoldsTheLock is no test: it is the process that others find at work.
func TestHelperHoldsTheLock(t *testing.T) {
	dir := os.Getenv("RALPH_TEST_LOCK")
	if dir == "" {
		t.Skip("only as a child")
	}
	if _, err := Acquire(dir, Owner{PID: os.Getpid(), User: "holder", Host: "here"}); err != nil {
		t.Fatal(err)
	}
	fmt.Println("locked")
	select {}
}

func TestASecondWriterLearnsWhoHoldsTheLock(t *testing.T) { // S2-44
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestHelperHoldsTheLock$")
	cmd.Env = append(os.Environ(), "RALPH_TEST_LOCK="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 100)
	n, err := out.Read(buf)
	if err != nil || !strings.HasPrefix(string(buf[:n]), "locked") {
		t.Fatalf("the holder said %q, %v", buf[:n], err)
	}
	var held *Held
	if _, err := Acquire(dir, Owner{PID: 1}); !errors.As(err, &held) || held.By.PID != cmd.Process.Pid || held.By.User != "holder" {
		t.Errorf("got %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed: that is the error
	l, err := Acquire(dir, Owner{PID: os.Getpid()})
	if err != nil {
		t.Fatalf("the holder is dead, and: %v", err)
	}
	if who, dead := l.Before(); !dead || who.PID != cmd.Process.Pid {
		t.Errorf("the dead holder is %+v, %v", who, dead)
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	l, err = Acquire(dir, Owner{PID: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, dead := l.Before(); dead {
		t.Error("a released lock has a dead holder")
	}
}

func FuzzJournal(f *testing.F) {
	dir := filled(f, 20)
	whole, err := os.ReadFile(filepath.Join(dir, File))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(100, byte(1), true)
	f.Add(5000, byte(255), false)
	f.Fuzz(func(t *testing.T, at int, flip byte, cut bool) {
		// Any prefix, and any flipped byte, gives a prefix of the events or an
		// error; never other events, never a panic.
		b := append([]byte{}, whole...)
		at = max(at, -at) % len(b)
		if at < 0 {
			return
		}
		if cut {
			b = b[:at]
		} else {
			b[at] ^= flip
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, File), b, 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := Open(dir, "bd-epic")
		if err != nil {
			return
		}
		defer l.Close()
		want := events(1, 20)
		i := 0
		for e, err := range l.Events(context.Background()) {
			if err != nil {
				return
			}
			if i >= len(want) || e != want[i] {
				t.Fatalf("event %d reads %+v", i+1, e)
			}
			i++
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	for _, group := range []int{1, 16} {
		b.Run(fmt.Sprintf("group=%d", group), func(b *testing.B) {
			l, err := Open(b.TempDir(), "bd-epic")
			if err != nil {
				b.Fatal(err)
			}
			defer l.Close()
			seq := int64(1)
			for b.Loop() {
				if err := l.Append(context.Background(), events(seq, group)); err != nil {
					b.Fatal(err)
				}
				seq += int64(group)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(seq), "µs/event")
		})
	}
}

// A file keeps its pages, whose number says when its log is merged.
func TestTheLogIsMergedBySize(t *testing.T) {
	for page, merged := range map[int64]int64{pageSize: walSize / pageSize, 4096: walSize / 4096} {
		dir := t.TempDir()
		if page != pageSize {
			conn, err := sqlite.OpenConn(filepath.Join(dir, File), sqlite.OpenReadWrite|sqlite.OpenCreate)
			if err != nil {
				t.Fatal(err)
			}
			for _, query := range []string{fmt.Sprint("PRAGMA page_size=", page), "VACUUM"} { // VACUUM writes the file
				err = errors.Join(err, sqlitex.ExecuteTransient(conn, query, nil))
			}
			if err := errors.Join(err, conn.Close()); err != nil {
				t.Fatal(err)
			}
		}
		l, err := Open(dir, "bd-1")
		if err != nil {
			t.Fatal(err)
		}
		for pragma, want := range map[string]int64{"page_size": page, "wal_autocheckpoint": merged} {
			if got, err := l.number("PRAGMA " + pragma); got != want || err != nil {
				t.Errorf("pages of %d bytes: %s is %d, want %d: %v", page, pragma, got, want, err)
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
