package bd

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/ir"
	codec "github.com/ralph-compiler/ralph/ir/codec/bd"
	"github.com/ralph-compiler/ralph/ir/irtest"
)

// shell calls the real bd as a person would, in a directory.
func shell(t testing.TB, dir, actor string, args ...string) string {
	t.Helper()
	cmd := exec.Command(realBd(t), args...)
	cmd.Dir = dir
	cmd.Env = append((&Client{actor: actor}).environ(), "BD_JSON_ENVELOPE=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("bd %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// exported is every bead of a database, as bd writes it, by id.
func exported(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for line := range strings.Lines(shell(t, dir, "ana", "export")) {
		out[idOf(t, line)] = line
	}
	return out
}

// surroundings is what bd could touch besides its database: git's state, and the
// names of all files.
func surroundings(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	for _, args := range []string{"status --porcelain --ignored=no", "config --local --list", "rev-parse HEAD", "for-each-ref", "stash list", "log --oneline --all"} {
		cmd := exec.Command("git", strings.Fields(args)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %s: %v\n%s", args, err, out)
		}
		b.WriteString("git " + args + "\n" + string(out))
	}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path)
		switch {
		case err != nil:
			return err
		case rel == ".beads", rel == filepath.Join(".git", "objects"):
			return filepath.SkipDir
		case !d.IsDir():
			b.WriteString(rel + "\n")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// running are the command lines of the processes that have a variable.
func running(t *testing.T, variable string) (out []string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("processes are looked up in /proc")
	}
	all, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil || len(all) == 0 {
		t.Fatal("no processes", err)
	}
	for _, file := range all {
		b, err := os.ReadFile(file)
		if err != nil || !slices.Contains(strings.Split(string(b), "\x00"), variable) {
			continue // it has ended, or is somebody else's
		}
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		out = append(out, strings.ReplaceAll(string(line), "\x00", " "))
	}
	return out
}

// The traps of the real bd, one database for all of them: each is something that bd
// does, and that must not happen to somebody's beads.
func TestBdTraps(t *testing.T) { // issue: the traps are each a test; nothing else of a database is changed
	ctx := context.Background()
	c, dir := database(t)
	e := irtest.Rich()
	n := e.Nodes
	id := func(k int) string { return string(n[k].ID) }

	// What ana has.
	shell(t, dir, "ana", "config", "set-many", "types.custom=hers")
	shell(t, dir, "ana", "create", "Ana's own", "--id", "bd-ana1", "-t", "hers", "-l", "a,b", "--design", "d", "--notes", "n", "-e", "30", "--metadata", `{"k":[1,2],"o":{"p":null}}`)
	shell(t, dir, "ana", "create", "Ana's next", "--id", id(0)+"x", "--deps", "blocks:bd-ana1") // its id begins with a node's
	shell(t, dir, "ana", "comments", "add", "bd-ana1", "hello")
	shell(t, dir, "ana", "update", "bd-ana1", "-s", "in_progress", "-a", "ana")
	foreign := []string{"bd-ana1", id(0) + "x"}
	before, around := exported(t, dir), surroundings(t, dir)

	t.Run("an epic is pushed, and again in one read", func(t *testing.T) {
		p := push1(t, c, e)
		if p.Created != 25 || len(p.Types) != 2 {
			t.Errorf("%+v", p)
		}
		rows, err := codec.Rows(e, nil)
		if err != nil {
			t.Fatal(err)
		}
		list, err := c.List(ctx, "-l", codec.EpicLabel+string(e.Epic.ID))
		if err != nil || len(list) != 25 {
			t.Fatalf("%d beads, %v", len(list), err)
		}
		for _, r := range rows {
			i := list[slices.IndexFunc(list, func(i Issue) bool { return i.ID == r.ID })]
			var got, want []string
			for _, d := range i.Dependencies {
				got = append(got, d.Type+" "+d.To)
			}
			for _, d := range r.Dependencies {
				want = append(want, d.Type+" "+d.To)
			}
			slices.Sort(got)
			slices.Sort(want)
			if i.Title != r.Title || i.Description != r.Description || i.Acceptance != r.Acceptance || i.Status != r.Status || i.Type != r.Type || i.Priority != r.Priority ||
				!slices.Equal(i.Labels, r.Labels) || !slices.Equal(got, want) {
				t.Errorf("%s is %+v, want %+v", r.ID, i, r)
			}
		}
		if p := push1(t, c, irtest.Rich()); p.Calls != 1 || !p.Nothing() {
			t.Errorf("again: %+v", p)
		}
	})
	t.Run("trap 1: an import does not overwrite what people did since", func(t *testing.T) {
		shell(t, dir, "ana", "update", id(5), "--status", "closed", "--force", "--metadata", `{"attempt_count":7}`)
		rows, err := codec.Rows(e, nil)
		if err != nil {
			t.Fatal(err)
		}
		lines, err := codec.Lines(rows)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Import(ctx, lines, quick); err != nil {
			t.Fatal(err)
		}
		next := many(irtest.Rich())
		p := push1(t, c, next) // by import, too: more beads than are written one by one
		i, _, err := c.Show(ctx, id(5))
		if err != nil || i.Status != "closed" || !strings.Contains(string(i.Metadata), `"attempt_count":7`) && !strings.Contains(string(i.Metadata), `"attempt_count": 7`) || !strings.Contains(i.Acceptance, "documented") {
			t.Errorf("%+v, %v; %+v", i, err, p)
		}
		if p := push1(t, c, next); p.Calls != 1 {
			t.Errorf("again: %+v", p)
		}
	})
	t.Run("trap 1: who writes a bead under a bulk change wins", func(t *testing.T) {
		shell(t, dir, "ana", "update", id(6), "--design", "hers", "--notes", "hers", "-e", "45", "--due", "2030-01-01")
		next := irtest.Rich()
		p := &push{c: c, say: func(string) {}, out: &Pushed{Epic: string(e.Epic.ID)}}
		var err error
		if p.plan, err = codec.Rows(next, nil); err != nil {
			t.Fatal(err)
		}
		p.now = p.plan
		there, err := p.read(ctx)
		if err != nil {
			t.Fatal(err)
		}
		shell(t, dir, "ana", "update", id(7), "-s", "in_progress", "-a", "ana")
		if _, err := p.change(ctx, p.compare(there)); err != nil {
			t.Fatal(err)
		}
		push1(t, c, next)
		var got []map[string]any
		if err := c.ask(ctx, quick, &got, "list", "--all", "--id", id(6)+","+id(7)); err != nil || len(got) != 2 {
			t.Fatal(err)
		}
		for _, i := range got {
			if i["id"] == id(6) && (i["design"] != "hers" || i["notes"] != "hers" || i["estimated_minutes"] != 45.0 || i["due_at"] == nil) {
				t.Errorf("what ralph does not know is gone: %v", i)
			}
			if i["id"] == id(7) && (i["status"] != "in_progress" || i["assignee"] != "ana") {
				t.Errorf("ana was quicker: %v", i)
			}
			if strings.Contains(i["acceptance_criteria"].(string), "documented") {
				t.Errorf("the plan's change is missing: %v", i["acceptance_criteria"])
			}
		}
	})
	t.Run("metadata is taken away and set, though bd does not do both in one call", func(t *testing.T) {
		i, err := c.Update(ctx, id(2), Change{Metadata: map[string]json.RawMessage{"a": []byte("1"), "b": []byte("2")}})
		if err == nil {
			i, err = c.Update(ctx, id(2), Change{Unset: []string{"a"}, Metadata: map[string]json.RawMessage{"c": []byte("3")}})
		}
		m := metadataOf(i)
		if err != nil || m["a"] != nil || m["b"] == nil || m["c"] == nil {
			t.Errorf("%s, %v", i.Metadata, err)
		}
	})
	t.Run("trap 2: dependencies that bd leaves out are an error", func(t *testing.T) {
		_, err := c.Import(ctx, []byte(`{"id":"bd-lost1","title":"L","status":"open","priority":2,"issue_type":"task","labels":["throwaway"],"updated_at":"2000-01-01T00:00:00Z","dependencies":[{"issue_id":"bd-lost1","depends_on_id":"bd-nowhere","type":"blocks"}]}`+"\n"), quick)
		if err == nil || !strings.Contains(err.Error(), "bd-nowhere") {
			t.Error(err)
		}
	})
	t.Run("trap 3: an id that is another bead's is refused with its title", func(t *testing.T) {
		other := irtest.Worked()
		other.Epic.ID = "bd-e00002"
		for k := range other.Nodes {
			other.Nodes[k].ID = ir.NodeID("bd-w0000" + string(rune('1'+k)))
		}
		other.Nodes[1].ID = "bd-ana1"
		ir.Seal(other)
		_, err := Push(ctx, c, other, PushOptions{})
		var o *Occupied
		if !errors.As(err, &o) || len(o.Beads) != 1 || !strings.Contains(err.Error(), `"Ana's own"`) {
			t.Error(err)
		}
		if got, err := c.ByID(ctx, "bd-e00002"); err != nil || len(got) != 0 {
			t.Errorf("it wrote: %v, %v", got, err)
		}
	})
	t.Run("trap 3: a part of an id is not taken for it", func(t *testing.T) {
		if _, there, err := c.Show(ctx, "bd-ana"); there || err != nil {
			t.Errorf("there: %v, %v", there, err)
		}
		if err := c.Batch(ctx, []string{"update bd-ana priority=0"}, quick); err == nil {
			t.Error("batch took bd-ana for bd-ana1")
		}
	})
	t.Run("trap 5: the epic comes back as it was", func(t *testing.T) {
		i, _, err := c.Show(ctx, string(e.Epic.ID))
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		if err := json.Unmarshal(i.Metadata, &m); err != nil {
			t.Fatal(err)
		}
		text, _ := m[codec.EpicKey].(string)
		want, err := ir.Encode(irtest.Rich())
		if err != nil || text != string(want) {
			t.Errorf("ralph_epic has %d bytes, want %d", len(text), len(want))
		}
	})
	t.Run("trap 6: bd closes a bead for its assignee only", func(t *testing.T) {
		mine, err := Open(ctx, Options{Program: realBd(t), Dir: dir, Actor: codec.Assignee(e)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := mine.Update(ctx, id(6), Change{Status: "in_progress", If: "open", Assignee: codec.Assignee(e)}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Close(ctx, id(6), "x"); err == nil {
			t.Error("somebody else closed it")
		}
		if i, err := mine.Close(ctx, id(6), "passed"); err != nil || i.Status != "closed" {
			t.Errorf("%+v, %v", i, err)
		}
	})
	t.Run("trap 8: agents in worktrees see the database and cannot write", func(t *testing.T) {
		tree := filepath.Join(t.TempDir(), "tree")
		if out, err := exec.Command("git", "-C", dir, "worktree", "add", "-q", "--detach", tree).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		defer exec.Command("git", "-C", dir, "worktree", "remove", "--force", tree).Run()
		in, err := Open(ctx, Options{Program: realBd(t), Dir: tree})
		if err != nil || in.Database.Dir != c.Database.Dir {
			t.Fatalf("%v, %v", in, err)
		}
		cmd := exec.Command(realBd(t), "update", id(4), "-p", "0")
		cmd.Dir, cmd.Env = tree, append(c.environ(), "BD_READONLY=true")
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "read-only") {
			t.Errorf("%v\n%s", err, out)
		}
	})
	t.Run("trap 8: BEADS_DIR of somebody's shell is nothing to ralph", func(t *testing.T) {
		t.Setenv("BEADS_DIR", t.TempDir())
		t.Setenv("BD_ACTOR", "somebody")
		other, err := Open(ctx, Options{Program: realBd(t), Dir: dir})
		if err != nil || other.Database.Dir != c.Database.Dir {
			t.Errorf("%v, %v", other, err)
		}
	})
	t.Run("trap 14: bd says of a change which one it was, whatever its second", func(t *testing.T) {
		for _, who := range []string{"ana", "bob"} {
			shell(t, dir, who, "update", id(8), "-s", map[string]string{"ana": "blocked", "bob": "in_progress"}[who])
		}
		shell(t, dir, "ana", "update", id(8), "-s", "closed", "--force")
		shell(t, dir, "bob", "reopen", id(8))
		events, err := c.Events(ctx, id(8))
		if err != nil {
			t.Fatal(err)
		}
		who := map[string]string{}
		for _, e := range events {
			for _, status := range []string{"blocked", "in_progress", "closed", "open"} {
				if e.Status() == status {
					who[status] += e.Actor
				}
			}
		}
		if want := (map[string]string{"blocked": "ana", "in_progress": "bob", "closed": "ana", "open": "bob"}); !maps.Equal(who, want) {
			t.Errorf("who gave which status: %v, want %v\n%+v", who, want, events)
		}
	})
	t.Run("trap 10: nothing of bd's is left running", func(t *testing.T) {
		mark := filepath.Join(t.TempDir(), "mark")
		own, err := Open(ctx, Options{Program: realBd(t), Dir: dir, Mark: mark})
		if err != nil {
			t.Fatal(err)
		}
		p, err := Push(ctx, own, changed(irtest.Rich()), PushOptions{})
		if err != nil || p.Nothing() {
			t.Fatalf("%+v, %v", p, err)
		}
		push1(t, own, irtest.Rich())
		if err := own.Comment(ctx, id(8), "hello"); err != nil {
			t.Fatal(err)
		}
		if left := running(t, Mark+"="+mark); len(left) > 0 {
			t.Errorf("left running: %q", left)
		}
	})
	t.Run("trap 13: an event of bd's own is no node", func(t *testing.T) {
		if err := c.SetState(ctx, string(e.Epic.ID), "mode", "building", "because"); err != nil {
			t.Fatal(err)
		}
		if p := push1(t, c, irtest.Rich()); p.Calls != 1 || len(p.Notes) > 0 {
			t.Errorf("%+v", p)
		}
	})
	t.Run("garbage is collected on request and nothing is lost", func(t *testing.T) {
		was := exported(t, dir)
		if err := c.ask(ctx, limitFor(25, 0), nil, "gc", "--skip-decay", "--force"); err != nil {
			t.Fatal(err)
		}
		same(t, "gc", exported(t, dir), was)
	})

	// traps 7 and 9: nothing but the epic's beads and types.custom has changed.
	after := exported(t, dir)
	for _, id := range foreign {
		if after[id] != before[id] {
			t.Errorf("%s was\n%s\nand is\n%s", id, before[id], after[id])
		}
	}
	for got, line := range after {
		if before[got] == "" && !strings.Contains(line, codec.EpicLabel+string(e.Epic.ID)) && !strings.HasPrefix(got, string(e.Epic.ID)+".") && got != "bd-lost1" {
			t.Errorf("a bead came into being: %s", line)
		}
	}
	if types, err := c.Config(ctx, "types.custom"); err != nil || types != "hers,beads-ralph-work,beads-ralph-merge" {
		t.Errorf("types.custom is %q, %v", types, err)
	}
	if now := surroundings(t, dir); now != around {
		t.Errorf("around the database was\n%s\nand is\n%s", around, now)
	}
	for _, file := range []string{"backup", "issues.jsonl"} {
		if _, err := os.Stat(filepath.Join(c.Database.Dir, file)); err == nil {
			t.Errorf(".beads/%s was made", file)
		}
	}
}

// A large epic comes in by a few calls; a push that is stopped in its import or before
// its edges is made good by the next one, and nothing looks ready too early.
func TestBdALargeEpicComesInDespiteInterruptions(t *testing.T) { // issue: resumable; beads: section 3
	c, _ := database(t)
	e := irtest.Large(155)
	var roots []string
	for i := range e.Nodes {
		if len(e.Nodes[i].After) == 0 {
			roots = append(roots, string(e.Nodes[i].ID))
		}
	}
	ready := func() []string {
		list, err := c.Ready(context.Background(), "-l", codec.Label)
		if err != nil {
			t.Fatal(err)
		}
		return ids(list)
	}
	for _, at := range []string{"importing", "writing"} {
		ctx, cancel := context.WithCancel(context.Background())
		_, err := Push(ctx, c, e, PushOptions{Progress: func(s string) {
			if strings.HasPrefix(s, at) {
				cancel()
			}
		}})
		if err == nil {
			t.Fatalf("%s: it was not stopped", at)
		}
		if got := ready(); len(got) != 0 {
			t.Errorf("stopped at %s: ready are %v", at, got)
		}
	}
	p := push1(t, c, e)
	if p.Edges == 0 || p.Calls > 8 {
		t.Errorf("%+v", p)
	}
	if got := ready(); !slices.Equal(got, roots) {
		t.Errorf("ready: %v, want %v", got, roots)
	}
	if p := push1(t, c, e); p.Calls != 1 {
		t.Errorf("again: %+v", p)
	}
}
