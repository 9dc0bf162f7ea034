package bdtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// T is what is needed of a testing.TB: package testing would cost each call of the program
// some milliseconds.
type T interface {
	Helper()
	TempDir() string
	Fatal(...any)
	Fatalf(string, ...any)
}

// Fake is a bd program with its switchboard. Its databases are where Init made them.
type Fake struct {
	Program string // absolute path of a program named "bd"; its directory can go on PATH
	t       T
	dir     string
}

// goHome is where the go command has its cache: tests have a home of their own.
var goHome = os.Getenv("HOME")

// program builds the stand-in, once for a test binary, among its temporary files. It is a
// program of its own since it is started thousands of times: a test binary needs several
// times as long to begin as a call takes.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "bdtest-")
	if err != nil {
		return "", err
	}
	exe := filepath.Join(dir, "bd.exe")
	cmd := exec.Command("go", "build", "-o", exe, "github.com/ralph-compiler/ralph/executor/tracker/bd/bdtest/bd")
	cmd.Env = append(os.Environ(), "HOME="+goHome)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build of the stand-in for bd: %w\n%s", err, out)
	}
	return exe, nil
})

// New makes a bd program without a database.
func New(t T) *Fake {
	t.Helper()
	exe, err := program()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	f := &Fake{Program: filepath.Join(dir, "bin", "bd"), t: t, dir: dir}
	if err := os.MkdirAll(filepath.Dir(f.Program), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(exe, f.Program); err != nil {
		t.Fatal(err)
	}
	return f
}

// Init makes an empty database in dir/.beads and returns that path. The prefix of
// its ids is "bd".
func (f *Fake) Init(dir string) string {
	f.t.Helper()
	f.Do(dir, "", "init", "--prefix", "bd")
	return filepath.Join(dir, ".beads")
}

// Do calls the program as actor would in a shell in dir, and returns what it printed
// with --json: the data of the envelope. The test fails if it exits with an error.
func (f *Fake) Do(dir, actor string, args ...string) json.RawMessage {
	f.t.Helper()
	cmd := exec.Command(f.Program, append(args, "--json")...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "BEADS_ACTOR="+actor, "BD_JSON_ENVELOPE=1", quietVar+"=1")
	out, err := cmd.Output()
	if err != nil {
		f.t.Fatalf("bd %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	var e struct{ Data json.RawMessage }
	if json.Unmarshal(out, &e) != nil || e.Data == nil {
		return out
	}
	return e.Data
}

// quietVar keeps a call of Do out of Calls and away from faults.
const quietVar = "RALPH_FAKE_BD_PERSON"

// What a fault does.
const (
	Refuse  = "refuse"  // exit 1 with Text on standard error; nothing is written
	Help    = "help"    // exit 0 with a help text; nothing is written
	Kill    = "kill"    // killed before anything is written
	Torn    = "torn"    // import: killed when half of the rows are written; else like Kill
	Answer  = "answer"  // everything is written, then killed before it answers
	WrongID = "wrongid" // answers about another bead than the one that was asked for
	Keys    = "keys"    // answers with unknown keys
	Away    = "away"    // there is no database
	Version = "version" // Text is its version
	Skips   = "skips"   // import: leaves the blocks edges out and says so
	Bare    = "bare"    // answers without the envelope
	Ties    = "ties"    // comments, history: what is of one second is in another order
)

// Fault is something that goes wrong.
type Fault struct {
	On   string // the command: "import", "comments add"; "" is every command
	With string // only calls one of whose arguments contains it
	In   string // only calls whose file contains it: a comment's text, metadata
	Nth  int    // of the calls that match, from 1; 0 is each of them
	Do   string
	Text string
}

// Faults replaces what goes wrong from now on, and counts calls anew.
func (f *Fake) Faults(faults ...Fault) {
	f.t.Helper()
	b, err := json.Marshal(faults)
	if err != nil {
		f.t.Fatal(err)
	}
	_ = os.Remove(filepath.Join(f.dir, "counts.json"))
	if err := os.WriteFile(filepath.Join(f.dir, "faults.json"), b, 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// Call is one call that was made, those of Do excepted.
type Call struct {
	Command string // "update", "comments add"
	Args    []string
	Actor   string
	Input   string // content of the file that it was given; "" if none
}

// Calls returns the calls since Forget, oldest first, those included that were killed.
func (f *Fake) Calls() []Call {
	f.t.Helper()
	b, err := os.ReadFile(filepath.Join(f.dir, "calls.jsonl"))
	if err != nil {
		return nil
	}
	var out []Call
	whole := bytes.LastIndexByte(b, '\n') // what comes behind is being written
	for _, line := range bytes.Split(b[:max(whole, 0)], []byte("\n")) {
		if len(line) == 0 {
			continue
		}
		var c Call
		if err := json.Unmarshal(line, &c); err != nil {
			f.t.Fatalf("a call that was logged: %v", err)
		}
		out = append(out, c)
	}
	return out
}

// Commands returns the commands of Calls.
func (f *Fake) Commands() []string {
	var out []string
	for _, c := range f.Calls() {
		out = append(out, c.Command)
	}
	return out
}

// clockFile holds what Clock set.
const clockFile = "clock"

// Clock makes the program take a time for now in every call that follows: bd keeps
// whole seconds, and everything may happen within one.
func (f *Fake) Clock(at time.Time) {
	f.t.Helper()
	b, err := at.UTC().Truncate(time.Second).MarshalText()
	if err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(f.dir, clockFile), b, 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// Forget empties Calls.
func (f *Fake) Forget() { _ = os.Remove(filepath.Join(f.dir, "calls.jsonl")) }

// Busy makes the database in beads (a .beads directory) busy: every call waits until
// release, as bd waits for another process that writes.
func (f *Fake) Busy(beads string) (release func()) {
	f.t.Helper()
	done, err := lock(filepath.Join(beads, lockFile))
	if err != nil {
		f.t.Fatal(err)
	}
	return done
}
