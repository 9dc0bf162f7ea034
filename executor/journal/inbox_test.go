package journal

import (
	"context"
	"errors"
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

// reopened returns the journal in dir as a run would have it: read to its end.
func reopened(t testing.TB, dir string) *Log {
	t.Helper()
	l, err := Open(dir, "bd-epic")
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range l.Events(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func TestTheInboxKeepsItsContract(t *testing.T) { // execution §5
	dir := filled(t, 1)
	executortest.InboxContract(t, reopened(t, dir), func(t *testing.T, l executor.Letter) {
		t.Helper()
		if err := Send(t.Context(), dir, "bd-epic", l); err != nil {
			t.Fatal(err)
		}
	}, func(t *testing.T, id string) (string, bool) {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // one look
		refused, err := Await(ctx, dir, "bd-epic", id)
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		return refused, err == nil
	})
}

func TestTheFakeInboxKeepsItsContract(t *testing.T) {
	in := &executortest.Inbox{}
	executortest.InboxContract(t, in, func(_ *testing.T, l executor.Letter) { in.Send(l.Node, l.Decision) },
		func(_ *testing.T, id string) (string, bool) { a, ok := in.Answers[id]; return a, ok })
}

func TestADecisionOnRecordIsAnsweredByThat(t *testing.T) { // execution §5, §9: taken once, whatever dies meanwhile
	dir := filled(t, 1)
	l := reopened(t, dir)
	d := executor.Decision{ID: "d1", Verb: executor.Approve, By: "ann"}
	if err := Send(t.Context(), dir, "bd-epic", executor.Letter{Decision: d}); err != nil {
		t.Fatal(err)
	}
	if err := Send(t.Context(), dir, "bd-epic", executor.Letter{Decision: d}); !errors.Is(err, ErrSent) {
		t.Errorf("sent twice: got %v, want ErrSent", err)
	}
	if err := l.Append(t.Context(), []executor.Event{{Seq: 2, Body: executor.Decided{Decision: d}}}); err != nil {
		t.Fatal(err)
	}
	// The holder dies here, before it says anything.
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if refused, err := Await(t.Context(), dir, "bd-epic", "d1"); err != nil || refused != "" {
		t.Errorf("got %q, %v; want taken", refused, err)
	}
	if got, err := reopened(t, dir).Pending(t.Context()); err != nil || len(got) != 0 {
		t.Errorf("pending %+v, %v; want none", got, err)
	}
}

// TestHelperSendsLetters is no test: it is another process that writes letters.
func TestHelperSendsLetters(t *testing.T) {
	dir := os.Getenv("RALPH_TEST_SEND")
	if dir == "" {
		t.Skip("only as a child")
	}
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		if err := Send(context.Background(), dir, "bd-epic", executor.Letter{Decision: executor.Decision{ID: id, Verb: executor.Pause}}); err != nil {
			t.Fatal(err)
		}
		refused, err := Await(context.Background(), dir, "bd-epic", id)
		if err != nil || refused != "heard "+id {
			t.Fatalf("%s: %q, %v", id, refused, err)
		}
	}
}

func TestAnotherProcessWritesLettersWhileTheHolderAppends(t *testing.T) { // execution §5
	dir := filled(t, 1)
	l := reopened(t, dir)
	cmd := exec.Command(os.Args[0], "-test.run=^TestHelperSendsLetters$")
	cmd.Env = append(os.Environ(), "RALPH_TEST_SEND="+dir)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	deadline := time.After(time.Minute)
	heard := 0
	for seq := int64(2); ; seq++ {
		if err := l.Append(t.Context(), events(seq, 1)); err != nil {
			t.Fatal(err)
		}
		list, err := l.Pending(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, letter := range list {
			heard++
			if err := l.Answer(t.Context(), letter.Decision.ID, "heard "+letter.Decision.ID); err != nil {
				t.Fatal(err)
			}
		}
		select {
		case err := <-ended:
			if err != nil || heard != 5 {
				t.Errorf("heard %d letters of 5; the sender: %v", heard, err)
			}
			return
		case <-deadline:
			_ = cmd.Process.Kill()
			t.Fatalf("heard %d letters of 5 in a minute", heard)
		case <-time.After(2 * time.Millisecond): // a holder is not always writing
		}
	}
}

func TestNobodyIsWrittenToWithoutAJournal(t *testing.T) {
	if err := Send(t.Context(), t.TempDir(), "bd-epic", executor.Letter{Decision: executor.Decision{ID: "1"}}); !errors.Is(err, ErrNone) {
		t.Errorf("got %v, want ErrNone", err)
	}
	if err := Send(t.Context(), filled(t, 1), "bd-other", executor.Letter{Decision: executor.Decision{ID: "1"}}); err == nil {
		t.Error("a letter about another epic was taken")
	}
}

// old makes a journal of format 1 of what is in dir.
func old(t *testing.T, dir string) {
	t.Helper()
	conn, err := sqlite.OpenConn(filepath.Join(dir, File))
	if err != nil {
		t.Fatal(err)
	}
	err = sqlitex.ExecuteScript(conn, `DROP VIEW runs; DROP VIEW nodes; DROP VIEW attempts; DROP VIEW gates; DROP VIEW decisions; DROP VIEW log;
		DROP TABLE inbox; PRAGMA user_version = 1;`, nil)
	if err := errors.Join(err, conn.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestAJournalOfFormatOneIsReadAndBroughtUpToDate(t *testing.T) {
	dir := filled(t, 4)
	old(t, dir)
	if v, err := Verify(t.Context(), dir, "bd-epic"); err != nil || v.Format != 1 || v.Events != 4 {
		t.Errorf("read as it is: %+v, %v", v, err)
	}
	if err := Send(t.Context(), dir, "bd-epic", executor.Letter{Decision: executor.Decision{ID: "1"}}); err == nil {
		t.Error("a letter went into a file without an inbox")
	}
	l := reopened(t, dir)
	if err := l.Append(t.Context(), events(5, 1)); err != nil {
		t.Fatal(err)
	}
	if err := Send(t.Context(), dir, "bd-epic", executor.Letter{Decision: executor.Decision{ID: "1"}}); err != nil {
		t.Error(err)
	}
	if v, err := Verify(t.Context(), dir, "bd-epic"); err != nil || v.Format != format || v.Events != 5 || v.Letters != 1 {
		t.Errorf("brought up to date: %+v, %v", v, err)
	}
}

// Agents run as the same user: what one writes into the inbox is refused when it is no
// decision, and stops neither this run nor the next. execution §5
func TestWhatIsNoDecisionIsRefused(t *testing.T) {
	dir := filled(t, 1)
	l := reopened(t, dir)
	conn, err := mail(dir, "bd-epic", sqlite.OpenReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	odd := map[string]string{
		"empty": "", "cut": `{"id":`, "deep": strings.Repeat("[", 100_000), "a list": "[]", "another id": `{"id":"x","verb":"approve"}`, "none": `{"verb":"approve"}`,
		"large": `{"id":"large","verb":"approve","by":"` + strings.Repeat("x", maxLetter) + `"}`, "behind NUL": "\x00" + strings.Repeat("x", 2*maxLetter),
	}
	for id, text := range odd {
		if err := sqlitex.Execute(conn, "INSERT INTO inbox(id, node, decision) VALUES (?, '', ?)", &sqlitex.ExecOptions{Args: []any{id, text}}); err != nil {
			t.Fatal(err)
		}
	}
	good := executor.Decision{ID: "d1", Verb: executor.Approve, By: "ann"}
	if err := Send(t.Context(), dir, "bd-epic", executor.Letter{Decision: good}); err != nil {
		t.Fatal(err)
	}
	got, err := l.Pending(t.Context())
	if err != nil || len(got) != 1 || got[0].Decision.ID != "d1" {
		t.Errorf("got %d letters, %v; want the one that is a decision", len(got), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // one look
	for id := range odd {
		if refused, err := Await(ctx, dir, "bd-epic", id); err != nil || refused == "" {
			t.Errorf("%s: refused %q, %v", id, refused, err)
		}
	}
	if err := Send(t.Context(), dir, "bd-epic", executor.Letter{Decision: executor.Decision{ID: "d2", Verb: executor.Approve, By: strings.Repeat("x", maxLetter)}}); err == nil {
		t.Error("a letter was sent that nobody reads")
	}
}
