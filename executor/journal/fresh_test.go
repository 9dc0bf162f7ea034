package journal

import (
	"path/filepath"
	"testing"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

func TestAReaderContinuesWhereItStopped(t *testing.T) {
	dir := filled(t, 3)
	reader, err := Read(dir, "bd-epic")
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	count := func(what string, want int64) {
		t.Helper()
		n := int64(0)
		for e, err := range reader.Fresh(t.Context()) {
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if n++; e.Seq != reader.Last()+n {
				t.Fatalf("%s: event %d, not %d", what, e.Seq, reader.Last()+n)
			}
		}
		if n != want {
			t.Errorf("%s: %d events, not %d", what, n, want)
		}
	}
	for _, err := range reader.Events(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
	}
	count("nothing was written", 0)
	writer, err := Open(dir, "bd-epic")
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range writer.Events(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Append(t.Context(), events(4, 2)); err != nil {
		t.Fatal(err)
	}
	count("two were written", 2)
	count("nothing since", 0)
	for range reader.Fresh(t.Context()) {
		t.Error("an event twice")
	}
	if err := writer.Append(t.Context(), events(6, 5)); err != nil {
		t.Fatal(err)
	}
	for range reader.Fresh(t.Context()) {
		break // who stops early gets them all again
	}
	count("five were written", 5)
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	count("the writer is gone", 0)
}

func TestAReaderRefusesWhatDoesNotFitTheChain(t *testing.T) {
	dir := filled(t, 3)
	reader, err := Read(dir, "bd-epic")
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	for _, err := range reader.Events(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
	}
	conn, err := sqlite.OpenConn(filepath.Join(dir, File), sqlite.OpenReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := sqlitex.Execute(conn, "INSERT INTO events VALUES (4, 'x', '{}')", nil); err != nil {
		t.Fatal(err)
	}
	err = nil
	for _, e := range reader.Fresh(t.Context()) {
		err = e
	}
	if err == nil || err.Error() != "read journal: journal journal.db is damaged at event 4: its hash does not match what is there" {
		t.Errorf("%v", err)
	}
}
