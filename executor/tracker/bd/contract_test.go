package bd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor/tracker/bd/bdtest"
	"github.com/ralph-compiler/ralph/internal/temptest"
)

func TestMain(m *testing.M) { os.Exit(temptest.Run(m)) }

// fakeDatabase makes a database of the stand-in, and a client.
func fakeDatabase(t testing.TB) (*Client, *bdtest.Fake, string) {
	t.Helper()
	f, dir := bdtest.New(t), t.TempDir()
	f.Init(dir)
	c, err := Open(context.Background(), Options{Program: f.Program, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	f.Forget()
	return c, f, dir
}

// contract is what ralph relies on: calls, their exit codes, and a part of the data
// that they answer with ("" looks at nothing, and an error answers what it says).
var contract = []struct {
	args string
	exit int
	want string
}{
	{`version`, 0, `{"version": "1.3.0"}`},
	{`context`, 0, `{"backend": "dolt"}`},
	{`config get types.custom`, 0, `{"key": "types.custom", "value": ""}`},
	{`import ROWS`, 1, `import failed: validation failed for issue bd-n1: invalid issue type: work`},
	{`config set-many types.custom=work,merge`, 0, ``},
	{`config get types.custom`, 0, `{"value": "work,merge"}`},
	{`import ROWS`, 0, `{"created": 4, "ids": ["bd-epic", "bd-n1", "bd-n2", "bd-solo1"]}`},
	{`import ROWS`, 0, `{"created": 4}`},
	{`import LOST`, 0, `{"skipped_dependencies": ["bd-lost -> bd-nowhere: target not found"]}`},
	{`list --all --limit 0 --include-gates --id bd-n1,bd-n,bd-zz`, 0, `[{"id": "bd-n1", "parent": "bd-epic", "issue_type": "work", "status": "deferred", "metadata": {"a": 1}, "labels": ["phase:x", "ralph"], "dependencies": [{"issue_id": "bd-n1", "depends_on_id": "bd-epic", "type": "parent-child"}]}]`},
	{`batch -f OPS`, 0, `{"operations": 3, "status": "ok"}`},
	{`batch -f BAD`, 1, `line 2 (close bd-zz): not found: issue bd-zz`},
	{`list --all --limit 0 -l ralph,phase:x`, 0, `[{"id": "bd-n1", "status": "open"}]`},
	{`list --all --limit 0 -l nothing`, 0, `[]`},
	{`ready --limit 0 --exclude-type epic -l ralph`, 0, `[{"id": "bd-n1"}]`},
	{`list --all --limit 0 --id bd-n2`, 0, `[{"status": "open", "dependencies": [{"depends_on_id": "bd-epic", "type": "parent-child"}, {"depends_on_id": "bd-n1", "type": "blocks"}]}]`},
	{`update bd-n1 --status in_progress --if-status open --assignee ralph`, 0, `[{"id": "bd-n1", "status": "in_progress", "assignee": "ralph"}]`},
	{`update bd-n1 --status in_progress --if-status open`, 13, `updating issue: status mismatch: bd-n1 has status "in_progress", expected "open"`},
	{`update bd-n1 --metadata {"b":{"c":2},"d":null} --remove-label phase:x --add-label phase:y`, 0, `[{"metadata": {"a": 1, "b": {"c": 2}, "d": null}}]`},
	{`update bd-zz --status open`, 1, `resolving issue: no issue found matching "bd-zz"`},
	{`update bd-sol --priority 4`, 0, `[{"id": "bd-solo1", "priority": 4}]`}, // a part of an id is taken for it
	{`label add bd-n1 more`, 0, `[{"issue_id": "bd-n1", "label": "more", "status": "added"}]`},
	{`label remove bd-n1 more`, 0, `[{"issue_id": "bd-n1", "label": "more", "status": "removed"}]`},
	{`comments add bd-n1 hello`, 0, `{"issue_id": "bd-n1", "author": "ralph", "text": "hello"}`},
	{`comments bd-n1`, 0, `[{"author": "ralph", "text": "hello"}]`},
	{`close bd-n2 --reason x`, 1, `cannot close blocked issue: bd-n2 is blocked by [bd-n1] (use --force to override)`},
	{`close bd-epic --reason x`, 1, `cannot close bd-epic: 2 open child issue(s); close children first or use --force to override`},
	{`update bd-n1 --assignee other --force`, 0, `[{"assignee": "other"}]`},
	{`close bd-n1 --reason x`, 1, `cannot close bd-n1: assignee is "other", actor is "ralph"; reclaim or use --force to override`},
	{`close bd-n1 --reason passed --actor other`, 0, `[{"id": "bd-n1", "status": "closed", "close_reason": "passed"}]`},
	{`close bd-zz --reason x`, 1, `resolving ID bd-zz: no issue found matching "bd-zz"`},
	{`set-state bd-epic mode=building --reason why`, 0, `{"changed": true, "event_id": "bd-epic.1", "new_value": "building", "old_value": null}`},
	{`set-state bd-epic mode=building --reason why`, 0, `{"changed": false, "value": "building"}`},
	{`show bd-n2`, 0, `[{"id": "bd-n2", "parent": "bd-epic", "dependencies": [{"id": "bd-epic", "dependency_type": "parent-child"}, {"id": "bd-n1", "dependency_type": "blocks"}]}]`},
	{`show bd-zz`, 1, `no issues found matching the provided IDs`},
	{`dep add bd-solo1 bd-n2 -t related`, 0, `{"issue_id": "bd-solo1", "depends_on_id": "bd-n2", "type": "related", "status": "added"}`},
	{`dep add bd-solo1 bd-solo1`, 1, ``},
	{`dep remove bd-solo1 bd-n2`, 0, `{"status": "removed"}`},
	{`import ROWS`, 0, `{"stale_skipped_ids": ["bd-n1", "bd-n2", "bd-solo1"]}`}, // all of them were written since
	{`import UNDATED`, 0, ``},
	{`list --all --limit 0 --id bd-n1`, 0, `[{"status": "open", "priority": 0}]`}, // a row without updated_at wins, one without priority is P0
	{`label rm bd-n1 q`, 0, ``},                                                   // exits 0 and does nothing
	{`frobnicate`, 1, `Error: unknown command "frobnicate" for "bd" Run 'bd --help' for usage.`},
	{`gc --skip-decay --force`, 0, `{"dry_run": false}`},
}

var contractFiles = map[string]string{
	"ROWS": `{"id":"bd-epic","title":"E","issue_type":"epic","status":"open","priority":2,"labels":["ralph"],"updated_at":"2026-01-01T00:00:00Z"}
{"id":"bd-n1","title":"N","issue_type":"work","status":"deferred","priority":2,"labels":["ralph","phase:x"],"metadata":{"a":1},"updated_at":"2026-01-01T00:00:00Z","dependencies":[{"issue_id":"bd-n1","depends_on_id":"bd-epic","type":"parent-child"}]}
{"id":"bd-n2","title":"M","issue_type":"merge","status":"deferred","priority":2,"labels":["ralph"],"updated_at":"2026-01-01T00:00:00Z","dependencies":[{"issue_id":"bd-n2","depends_on_id":"bd-epic","type":"parent-child"}]}
{"id":"bd-solo1","title":"S","issue_type":"task","status":"open","priority":3,"updated_at":"2026-01-01T00:00:00Z"}
`,
	"LOST":    `{"id":"bd-lost","title":"L","issue_type":"task","status":"open","priority":2,"updated_at":"2026-01-01T00:00:00Z","dependencies":[{"issue_id":"bd-lost","depends_on_id":"bd-nowhere","type":"blocks"}]}`,
	"UNDATED": `{"id":"bd-n1","title":"N","issue_type":"work","status":"open"}`,
	"OPS":     "dep add bd-n2 bd-n1 blocks\nupdate bd-n1 status=open\nupdate bd-n2 status=open title=\"a \\\"b\\\" c\"\n",
	"BAD":     "update bd-n1 priority=4\nclose bd-zz\n",
}

// keepContract runs the contract against a program.
func keepContract(t *testing.T, program, dir string) {
	files := t.TempDir()
	for name, text := range contractFiles {
		if err := os.WriteFile(filepath.Join(files, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for n, step := range contract {
		args := strings.Fields(step.args)
		for k, a := range args {
			if _, ok := contractFiles[a]; ok {
				args[k] = filepath.Join(files, a)
			}
		}
		cmd := exec.Command(program, append(args, "--json")...)
		var out, errs strings.Builder
		cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &errs
		cmd.Env = (&Client{actor: "ralph"}).environ()
		err := cmd.Run()
		exit := 0
		if e := (*exec.ExitError)(nil); errors.As(err, &e) {
			exit = e.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		if exit != step.exit {
			t.Fatalf("step %d: bd %s: exit %d, want %d\n%s%s", n+1, step.args, exit, step.exit, out.String(), errs.String())
		}
		switch {
		case step.want == "":
		case exit != 0:
			if got := said(out.String(), errs.String()); got != step.want {
				t.Errorf("step %d: bd %s says\n %s\nwant\n %s", n+1, step.args, got, step.want)
			}
		default:
			var e envelope
			var got, want any
			if json.Unmarshal([]byte(out.String()), &e) != nil || json.Unmarshal(e.Data, &got) != nil || json.Unmarshal([]byte(step.want), &want) != nil {
				t.Errorf("step %d: bd %s answers\n %s", n+1, step.args, out.String())
			} else if miss := lacks(got, want, ""); miss != "" {
				t.Errorf("step %d: bd %s: %s in\n %s", n+1, step.args, miss, e.Data)
			}
		}
	}
}

// lacks says what of want is not in got; lists have to have as many items.
func lacks(got, want any, at string) string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return fmt.Sprintf("%s is %v, want an object", at, got)
		}
		for k, x := range w {
			if miss := lacks(g[k], x, at+"/"+k); miss != "" {
				return miss
			}
		}
		return ""
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return fmt.Sprintf("%s is %v, want %d items", at, got, len(w))
		}
		for _, x := range w { // bd orders edges by chance
			if !slices.ContainsFunc(g, func(y any) bool { return lacks(y, x, "") == "" }) {
				return fmt.Sprintf("%s has no %v", at, x)
			}
		}
		return ""
	}
	if got != want {
		return fmt.Sprintf("%s is %v, want %v", at, got, want)
	}
	return ""
}

// The stand-in of the fast tests does what the real bd does.
func TestTheStandInKeepsTheContract(t *testing.T) { // S4-109..119
	_, f, dir := fakeDatabase(t)
	keepContract(t, f.Program, dir)
}

func TestBdKeepsTheContract(t *testing.T) { // S4-109..119
	_, dir := database(t)
	keepContract(t, realBd(t), dir)
}

func TestTheStandInAnswersAsTheClientReads(t *testing.T) { // S4-109..119
	c, _, _ := fakeDatabase(t)
	answersAsTheClientReads(t, c)
}

// newerDatabase is what bd 1.3.0 writes to standard error about a database with one
// migration more than it knows.
const newerDatabase = `{
  "data": {
    "error": "schema version mismatch: database is at v67, binary knows up to v66 (1 migration ahead)",
    "hint": "BD_IGNORE_SCHEMA_SKEW=1 bd \u003ccommand\u003e  or  bd --ignore-schema-skew \u003ccommand\u003e"
  },
  "schema_skew": {
    "current_version": 67,
    "delta": 1,
    "required_version": 66
  },
  "schema_version": 1
}`

// Every fault of the stand-in reaches the client as an error that says it.
func TestFaultsAreSaid(t *testing.T) { // S4-119
	ctx := context.Background()
	for name, tt := range map[string]struct {
		fault bdtest.Fault
		want  string // in the error; "" is none
	}{
		"refused":                {bdtest.Fault{On: "update", Do: bdtest.Refuse, Text: "no way"}, "no way"},
		"help":                   {bdtest.Fault{On: "update", Do: bdtest.Help}, "not the JSON"},
		"killed":                 {bdtest.Fault{On: "update", Do: bdtest.Kill}, "bd update"},
		"killed behind it":       {bdtest.Fault{On: "update", Do: bdtest.Answer}, "bd update"},
		"another bead":           {bdtest.Fault{On: "update", Do: bdtest.WrongID}, "bd took bd-1 for bd-1x"},
		"keys that nobody knows": {bdtest.Fault{On: "update", Do: bdtest.Keys}, ""},
		"a newer bd's database":  {bdtest.Fault{On: "update", Do: bdtest.Refuse, Text: newerDatabase}, "ahead). A newer bd has changed this database, and bd 1.3.0 cannot open it any more: put the newer one first in PATH, and answer for it (RALPH_BD_VERSION="}, // beads: trap 12
		"database away":          {bdtest.Fault{On: "update", Do: bdtest.Away}, "no beads database found"},
		"the second call":        {bdtest.Fault{On: "update", Nth: 2, Do: bdtest.Refuse, Text: "no way"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c, f, dir := fakeDatabase(t)
			f.Do(dir, "p", "create", "T", "--id", "bd-1")
			f.Faults(tt.fault)
			_, err := c.Update(ctx, "bd-1", Change{Title: "U"})
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%v, want %q", err, tt.want)
			}
			var list []Issue
			if err := json.Unmarshal(f.Do(dir, "p", "list", "--all"), &list); err != nil {
				t.Fatal(err)
			}
			wrote := tt.fault.Do == bdtest.Answer || tt.fault.Do == bdtest.WrongID || tt.fault.Do == bdtest.Keys || tt.fault.Nth == 2
			if (list[0].Title == "U") != wrote {
				t.Errorf("its title is %q afterwards; written: %v", list[0].Title, wrote)
			}
			if calls := f.Calls(); len(calls) != 1 || calls[0].Command != "update" || calls[0].Actor != "ralph" {
				t.Errorf("calls: %+v", calls)
			}
		})
	}
}

// A database that another process writes to makes a call wait; the limit ends it.
func TestABusyDatabaseIsWaitedFor(t *testing.T) { // facts: bd waits without limit
	c, f, dir := fakeDatabase(t)
	release := f.Busy(filepath.Join(dir, ".beads"))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		_, err := c.List(ctx)
		ended <- err
	}()
	for len(f.Calls()) == 0 { // it has begun
		select {
		case err := <-ended:
			t.Fatalf("it did not wait: %v", err)
		default:
		}
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	release()
	if _, err := c.List(context.Background()); err != nil {
		t.Errorf("released: %v", err)
	}
}
