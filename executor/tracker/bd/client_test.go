package bd

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"github.com/ralph-compiler/ralph/executor/tracker/bd/bdtest"
	"github.com/ralph-compiler/ralph/internal/temptest"
)

// realBd returns the real bd's path; the test is skipped where it is not there.
func realBd(t testing.TB) string {
	t.Helper()
	path := os.Getenv("RALPH_BD")
	if path == "" {
		t.Skip("RALPH_BD is not set: make e2e builds the real bd and tests with it")
	}
	return path
}

// database makes a repository with an empty beads database.
func database(t testing.TB) (*Client, string) { return databaseOf(t, "bd") }

// databaseOf is database with ids that begin with a prefix.
func databaseOf(t testing.TB, prefix string) (*Client, string) {
	t.Helper()
	program, dir := realBd(t), t.TempDir()
	temptest.Share(t, 2)
	t.Setenv("HOME", t.TempDir())
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "--allow-empty", "-m", "start"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	bdtest.InitReal(t, program, dir, prefix)
	c, err := Open(context.Background(), Options{Program: program, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return c, dir
}

// Every method of the client, against the real bd: the shapes that it relies on.
func TestBdAnswersAsTheClientReads(t *testing.T) { // S4-109..119
	c, _ := database(t)
	answersAsTheClientReads(t, c)
}

func answersAsTheClientReads(t *testing.T, c *Client) {
	t.Helper()
	ctx := context.Background()
	rows := `{"id":"bd-e1","title":"E","issue_type":"epic","status":"open","priority":2,"labels":["ralph"],"updated_at":"2026-01-01T00:00:00Z"}
{"id":"bd-n1","title":"N","issue_type":"task","status":"open","priority":2,"labels":["ralph","phase:x"],"metadata":{"a":1},"updated_at":"2026-01-01T00:00:00Z","dependencies":[{"issue_id":"bd-n1","depends_on_id":"bd-e1","type":"parent-child"}]}
`
	got, err := c.Import(ctx, []byte(rows), quick)
	if err != nil || got.Created != 2 {
		t.Fatalf("import: %+v, %v", got, err)
	}
	by, err := c.ByID(ctx, "bd-n1", "bd-e1", "bd-n")
	if err != nil || len(by) != 2 || by["bd-n1"].Parent != "bd-e1" || string(by["bd-n1"].Metadata) == "" {
		t.Fatalf("list: %+v, %v", by, err)
	}
	up, err := c.Update(ctx, "bd-n1", Change{Status: "in_progress", If: "open", Assignee: "ralph", Add: []string{"phase:y"}, Remove: []string{"phase:x"}, Metadata: map[string]json.RawMessage{"b": []byte("2")}, ExternalRef: "https://example.org/1"})
	if err != nil || up.Status != "in_progress" || up.Assignee != "ralph" {
		t.Fatalf("update: %+v, %v", up, err)
	}
	if _, err := c.Update(ctx, "bd-n1", Change{Status: "in_progress", If: "open"}); !Guarded(err) {
		t.Fatalf("a guard that does not hold: %v", err)
	}
	if err := c.Comment(ctx, "bd-n1", "[iter:1] one\nline two"); err != nil {
		t.Fatal(err)
	}
	if cs, err := c.Comments(ctx, "bd-n1"); err != nil || len(cs) != 1 || cs[0].Text != "[iter:1] one\nline two" || cs[0].Author != "ralph" {
		t.Fatalf("comments: %+v, %v", cs, err)
	}
	if err := c.SetState(ctx, "bd-e1", "mode", "building", "started"); err != nil {
		t.Fatal(err)
	}
	if ev, err := c.Events(ctx, "bd-n1"); err != nil || len(ev) == 0 {
		t.Fatalf("events: %+v, %v", ev, err)
	}
	if err := c.Batch(ctx, []string{"update bd-n1 priority=1"}, quick); err != nil {
		t.Fatal(err)
	}
	if closed, err := c.Close(ctx, "bd-n1", "passed"); err != nil || closed.Status != "closed" || closed.CloseReason != "passed" {
		t.Fatalf("close: %+v, %v", closed, err)
	}
	if err := c.SetConfig(ctx, "types.custom", "beads-ralph-work,x"); err != nil {
		t.Fatal(err)
	}
	if v, err := c.Config(ctx, "types.custom"); err != nil || v != "beads-ralph-work,x" {
		t.Fatalf("config: %q, %v", v, err)
	}
	if list, err := c.Ready(ctx); err != nil || len(list) != 0 {
		t.Fatalf("ready: %+v, %v", list, err)
	}
}
