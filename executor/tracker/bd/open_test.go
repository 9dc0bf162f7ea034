package bd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor/tracker/bd/bdtest"
	"github.com/ralph-compiler/ralph/ir/irtest"
)

// An epic with ids of another prefix than the database's is pushed, and that is said.
func TestAnotherPrefixIsSaid(t *testing.T) { // issue: tracker.prefix against the database's
	c, f, dir := fakeDatabase(t)
	f.Do(dir, "ana", "config", "set", "issue_prefix", "web")
	p := push1(t, c, irtest.Worked())
	if len(p.Notes) != 1 || !strings.Contains(p.Notes[0], `prefix = "web"`) {
		t.Errorf("notes %q", p.Notes)
	}
}

// bd makes no event for a bead of another prefix: its state is set all the same, with
// the reason, once.
func TestStateInADatabaseOfAnotherPrefix(t *testing.T) { // S2-31
	c, f, dir := fakeDatabase(t)
	f.Do(dir, "ana", "config", "set", "issue_prefix", "web")
	otherPrefix(t, c)
}

func TestBdStateInADatabaseOfAnotherPrefix(t *testing.T) { // S2-31
	c, _ := databaseOf(t, "web")
	otherPrefix(t, c)
}

func otherPrefix(t *testing.T, c *Client) {
	t.Helper()
	ctx := context.Background()
	row := `{"id":"bd-e1","title":"E","issue_type":"epic","status":"open","priority":2,"labels":["ralph"],"updated_at":"2026-01-01T00:00:00Z"}`
	if _, err := c.Import(ctx, []byte(row), quick); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct{ value, why string }{{"planning", "compiled"}, {"building", "started"}, {"building", "started"}} {
		if err := c.SetState(ctx, "bd-e1", "mode", step.value, step.why); err != nil {
			t.Fatal(err)
		}
	}
	by, err := c.ByID(ctx, "bd-e1")
	if err != nil || !slices.Contains(by["bd-e1"].Labels, "mode:building") || slices.Contains(by["bd-e1"].Labels, "mode:planning") {
		t.Errorf("%+v, %v", by, err)
	}
	said, err := c.Comments(ctx, "bd-e1")
	if err != nil || len(said) != 2 || said[1].Text != "[mode] building: started" {
		t.Errorf("%+v, %v", said, err)
	}
}

// A newer bd that opens a database changes it, and older ones refuse it from then on:
// a bd of another major.minor than ralph was tried with is not let near it, unless
// somebody answers for exactly that one.
func TestAnotherVersionIsNotLetNearADatabase(t *testing.T) { // issue: versions outside the tested range; beads: trap 12
	for version, want := range map[string]string{
		"0.49.6": "too old", "1.2.2": "does not use another", "1.3.0": "", "1.3.7": "", "1.4.0": "does not use another",
		"2.0.0": "does not use another", "dev": "does not use another",
	} {
		f, dir := bdtest.New(t), t.TempDir()
		f.Init(dir)
		f.Faults(bdtest.Fault{On: "version", Do: bdtest.Version, Text: version})
		open := func() (*Client, error) {
			f.Forget()
			return Open(context.Background(), Options{Program: f.Program, Dir: dir})
		}
		_, err := open()
		var m *Missing
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", version, err)
		case want != "" && (!errors.As(err, &m) || !strings.Contains(m.Why, version) || !strings.Contains(m.Why, want)):
			t.Errorf("%s: %v", version, err)
		case want != "" && !slices.Equal(f.Commands(), []string{"version"}):
			t.Errorf("%s: it called %v", version, f.Commands())
		}
		if want != "does not use another" {
			continue
		}
		answered := version
		if major, minor, ok := numbers(version); ok {
			answered = fmt.Sprintf("%d.%d", major, minor)
		}
		if !m.Untested || !strings.Contains(m.Type, AnsweredFor+"="+answered) {
			t.Errorf("%s: it does not say what to type: %+v", version, m)
		}
		t.Setenv(AnsweredFor, answered)
		if c, err := open(); err != nil || c.Database.Untested() == "" {
			t.Errorf("%s, answered for: %v", version, err)
		}
		t.Setenv(AnsweredFor, "1.5")
		if _, err := open(); !errors.As(err, &m) {
			t.Errorf("%s, another answered for: %v", version, err)
		}
		t.Setenv(AnsweredFor, "")
	}
}

// Without a database the error says what to type, and nothing is made.
func TestWithoutADatabaseTheCommandIsSaid(t *testing.T) { // issue: ralph prints the exact bd init and never runs it
	f, dir := bdtest.New(t), t.TempDir()
	_, err := Open(context.Background(), Options{Program: f.Program, Dir: dir})
	var m *Missing
	if !errors.As(err, &m) || !strings.Contains(m.Type, "bd init --prefix bd --stealth --skip-hooks --skip-agents --non-interactive") {
		t.Fatal(err)
	}
	if slices.Contains(f.Commands(), "init") {
		t.Error("it ran bd init")
	}
	_, err = Open(context.Background(), Options{Program: dir + "/bd", Dir: dir})
	if !errors.As(err, &m) {
		t.Errorf("no bd: %v", err)
	}
}
