//go:build unix

package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/executor/tracker/bd"
	"github.com/ralph-compiler/ralph/executor/tracker/bd/bdtest"
	"github.com/ralph-compiler/ralph/ir"
)

// beads is a beads database that lies in a repository, and what calls it.
type beads struct {
	program string
	do      func(dir string, args ...string) json.RawMessage
	init    func(dir string)
}

func fakeBeads(t *testing.T) *beads { return beadsOf(bdtest.New(t)) }

func beadsOf(f *bdtest.Fake) *beads {
	return &beads{f.Program, func(dir string, args ...string) json.RawMessage { return f.Do(dir, "ann", args...) }, func(dir string) { f.Init(dir) }}
}

// realBeads is the real bd; the test is skipped where it is not there.
func realBeads(t *testing.T) *beads {
	t.Helper()
	path := os.Getenv("RALPH_BD")
	if path == "" {
		t.Skip("RALPH_BD is not set: make e2e builds the real bd and tests with it")
	}
	bin := t.TempDir()
	if err := os.Symlink(path, filepath.Join(bin, "bd")); err != nil {
		t.Fatal(err)
	}
	do := func(dir string, args ...string) json.RawMessage {
		t.Helper()
		cmd := exec.Command(path, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "BEADS_ACTOR=ann", "BD_NON_INTERACTIVE=1", "BD_DISABLE_METRICS=1", "BD_BACKUP_ENABLED=false")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("bd %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return out
	}
	return &beads{filepath.Join(bin, "bd"), do, func(dir string) { bdtest.InitReal(t, path, dir, "bd") }}
}

// push makes a database in a repository and writes its epic into it.
func (b *beads) push(t *testing.T, r *applyRepo) {
	t.Helper()
	b.init(r.dir)
	epic, err := ir.Decode([]byte(r.read("epic.json")))
	if err != nil {
		t.Fatal(err)
	}
	c, err := bd.Open(t.Context(), bd.Options{Program: b.program, Dir: r.dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bd.Push(t.Context(), c, epic, bd.PushOptions{}); err != nil {
		t.Fatal(err)
	}
}

// keep writes the epic of a repository and what its journal says into the database,
// as the mirror does.
func (b *beads) keep(t *testing.T, r *applyRepo, change ...func(*machine.KeptRun, map[ir.NodeID]*executor.Kept)) {
	t.Helper()
	b.keepWith(t, r, "", change...)
}

// keepWith also writes a bead that belongs to no epic, if it has an id.
func (b *beads) keepWith(t *testing.T, r *applyRepo, other string, change ...func(*machine.KeptRun, map[ir.NodeID]*executor.Kept)) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(r.dir, "epic.json"))
	if err != nil {
		t.Fatal(err)
	}
	epic, err := ir.Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	events, err := record.ReadEvents(t.Context(), filepath.Join(r.dir, ".git/ralph", string(epic.Epic.ID)), epic.Epic.ID)
	if err != nil {
		t.Fatal(err)
	}
	run, err := record.Replayed(epic, events)
	if err != nil {
		t.Fatal(err)
	}
	var rows bytes.Buffer
	enc := json.NewEncoder(&rows)
	row := func(id, title, kind, status string, meta map[string]any) {
		var closed any
		if status == "closed" {
			closed = "2026-01-01T00:00:00Z"
		}
		if err := enc.Encode(map[string]any{
			"closed_at": closed, "id": id, "title": title, "issue_type": kind, "status": status, "priority": 2, "updated_at": "2026-01-01T00:00:00Z",
			"labels": []string{"ralph", "ralph-epic:" + string(epic.Epic.ID)}, "metadata": meta,
		}); err != nil {
			t.Fatal(err)
		}
	}
	meta := map[string]any{"ralph_epic": string(raw), "ralph_digest": epic.Digest}
	whole, begun := run.Summary().Kept()
	kept := map[ir.NodeID]*executor.Kept{}
	for _, n := range epic.Nodes {
		if k, ok := run.Node(n.ID).Kept(); ok {
			kept[n.ID] = &k
		}
	}
	for _, c := range change {
		c(&whole, kept)
	}
	if begun {
		meta["ralph"] = whole
	}
	row(string(epic.Epic.ID), epic.Epic.Title, "epic", "open", meta)
	for _, n := range epic.Nodes {
		meta := map[string]any{"plan_file": epic.Epic.Plan, "plan_section": n.Section}
		if k := kept[n.ID]; k != nil {
			meta["ralph"] = k
		}
		v, _ := run.View(n.ID)
		row(string(n.ID), n.Title, "task", v.Word(executor.WordsIssue), meta)
	}
	if other != "" {
		row(other, "Old", "task", "open", map[string]any{"plan_file": "docs/old.md", "plan_section": "## Phase 9 > ### Sprint 9.9: Old", "plan_sprint_id": "9.9"})
	}
	file := filepath.Join(t.TempDir(), "rows.jsonl")
	if err := os.WriteFile(file, rows.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	b.do(r.dir, "import", file)
}

// moved is a fresh clone of a repository with its .beads and nothing else.
func (b *beads) moved(t *testing.T, r *applyRepo) *applyRepo {
	t.Helper()
	to := &applyRepo{t: t, dir: filepath.Join(t.TempDir(), "project")}
	if out, err := exec.Command("git", "clone", "-q", r.dir, to.dir).CombinedOutput(); err != nil {
		t.Fatalf("git clone: %v\n%s", err, out)
	}
	to.git("config", "user.name", "Other User")
	to.git("config", "user.email", "other@example.org")
	if err := errors.Join(os.CopyFS(filepath.Join(to.dir, ".beads"), os.DirFS(filepath.Join(r.dir, ".beads"))), os.RemoveAll(filepath.Join(to.dir, "epic.json"))); err != nil {
		t.Fatal(err)
	}
	return to
}

// ralph runs a command in the repository, with this bd on PATH.
func (b *beads) ralph(t *testing.T, r *applyRepo, want int, args ...string) (out, said string) {
	t.Helper()
	return b.ralphWith(t, r, nil, want, args...)
}

func (b *beads) ralphWith(t *testing.T, r *applyRepo, env []string, want int, args ...string) (out, said string) {
	t.Helper()
	cmd := exec.Command("ralph", args...)
	var o, e bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = r.dir, &o, &e
	cmd.Env = append(append(os.Environ(), "VISUAL=", "EDITOR=", "PATH="+filepath.Dir(b.program)+string(os.PathListSeparator)+os.Getenv("PATH")), env...)
	code := 0
	var exit *exec.ExitError
	if err := cmd.Run(); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	if code != want {
		t.Fatalf("ralph %s: exit %d, want %d\n%s%s", strings.Join(args, " "), code, want, &o, &e)
	}
	return o.String(), e.String()
}

// attempts lists the attempts that a journal says began, "1.2b implement 2".
func (r *applyRepo) attempts() []string {
	r.t.Helper()
	events, err := record.ReadEvents(r.t.Context(), filepath.Join(r.dir, ".git/ralph/bd-epic"), "bd-epic")
	if err != nil {
		r.t.Fatal(err)
	}
	var out []string
	for _, e := range events {
		if _, ok := e.Body.(executor.AttemptStarted); ok && e.Node != executor.Integration {
			out = append(out, string(e.Node)+" "+e.Step+" "+string(rune('0'+e.Attempt)))
		}
	}
	slices.Sort(out)
	return out
}

// mirrored is the epic of diamondEpic with a tracker.
func mirrored() *ir.Epic {
	e := diamondEpic()
	e.Run.Tracker = &ir.Tracker{Kind: "bd", Prefix: "bd", Actor: "ralph"}
	return e
}

func TestARunGoesOnFromTheBeadsAlone(t *testing.T) { // issue: nothing of a database is changed outside the epic; S2-33, S2-38, S2-39, S2-40, S2-41, S2-42, S2-43, S2-44, S2-45, K33; execution §1
	t.Parallel()
	goesOnFromBeads(t, fakeBeads(t))
}

func TestBdARunGoesOnFromTheBeadsAlone(t *testing.T) { // issue: nothing of a database is changed outside the epic; S2-38, S2-39, S2-40, S2-41, S2-45, K33
	t.Parallel()
	goesOnFromBeads(t, realBeads(t))
}

// goesOnFromBeads loses a journal with half of a plan done. Only a clone, in which
// nobody has been, and .beads are left: the run goes on from there, and comes to the
// same end. What agents propose comes into being meanwhile; recover changes no bead,
// and nothing changes those of others.
func goesOnFromBeads(t *testing.T, b *beads) {
	proposing := func(e *ir.Epic) *applyRepo {
		r := newApplyRepo(t, e)
		r.write("agent.sh", agentScript+`echo '{"result":"success","summary":"done","created_issues":[{"title":"After '"$RALPH_NODE"'"}]}' > "$RALPH_OUTCOME"`+"\n")
		r.git("commit", "-q", "-a", "-m", "agent")
		return r
	}
	calm := proposing(diamondEpic())
	calm.run(exit.Done)
	want := calm.files("ralph/x/integration")

	epic := mirrored()
	epic.Run.Tracker.Proposals = true
	first := proposing(epic)
	b.push(t, first)
	b.do(first.dir, "create", "Ann's own", "--id", "bd-ann", "-l", "a,b", "-d", "hers", "--metadata", `{"k":[1,2]}`)
	b.do(first.dir, "create", "Waits for what is run", "--id", "bd-later")
	b.do(first.dir, "dep", "add", "bd-later", "bd-1-1")
	b.do(first.dir, "comments", "add", "bd-ann", "hello")
	before := b.all(t, first)
	b.ralph(t, first, exit.Done, "apply", "--only", "1.2b")
	if got := first.attempts(); !slices.Equal(got, []string{"bd-1-1 implement 1", "bd-1-2b implement 1", "bd-1-2b implement 2"}) {
		t.Fatalf("before: %q", got)
	}
	results := map[string]string{}
	for _, id := range []string{"bd-1-1", "bd-1-2b"} {
		results[id] = first.git("rev-parse", "refs/ralph/bd-epic/nodes/"+id+"/result")
	}
	r := b.moved(t, first)
	if out := string(b.do(r.dir, "ready", "--exclude-type", "epic", "-l", "ralph-epic:bd-epic", "--json")); !strings.Contains(out, "bd-1-2a") || strings.Contains(out, "bd-1-2b") {
		t.Errorf("what remains, in bd: %s", out)
	}
	if out := string(b.do(r.dir, "comments", "bd-1-2b", "--json")); !strings.Contains(out, "[iter:1] [task:bd-1-2b]") || !strings.Contains(out, "[iter:2] [task:bd-1-2b]") {
		t.Errorf("the history, in bd: %s", out)
	}

	if _, said := b.ralph(t, r, exit.Input, "apply", "bd-epic"); !strings.Contains(said, "ralph recover bd-epic") {
		t.Errorf("apply without a journal said\n%s", said)
	}
	lost := b.all(t, r)
	out, _ := b.ralph(t, r, exit.Done, "recover", "bd-epic")
	if now := b.all(t, r); !maps.Equal(now, lost) {
		t.Errorf("recover changed beads: they were\n%v\nand are\n%v", lost, now)
	}
	for _, want := range []string{"epic.json written", "1.1     done", "1.2a    open", "1.2b    done    2", results["bd-1-2b"][:12], "ralph apply"} {
		if !strings.Contains(out, want) {
			t.Errorf("recover lacks %q:\n%s", want, out)
		}
	}
	if got, want := r.read("epic.json"), first.read("epic.json"); got != want {
		t.Error("epic.json came back otherwise than it was")
	}
	for id, want := range results {
		if got := r.git("rev-parse", "refs/ralph/bd-epic/nodes/"+id+"/result"); got != want {
			t.Errorf("the result of %s is at %s, want %s", id, got, want)
		}
	}
	if got := r.git("rev-parse", "refs/ralph/bd-epic/base"); got != first.git("rev-parse", "refs/ralph/bd-epic/base") {
		t.Errorf("the base is at %s", got)
	}
	if _, said := b.ralph(t, r, exit.Input, "recover", "bd-epic"); !strings.Contains(said, "nothing is lost") || !strings.Contains(said, "--force") {
		t.Errorf("a second recover said\n%s", said)
	}
	if out, _ := b.ralph(t, r, exit.Done, "status"); !strings.Contains(out, "2 of 4 sprints done") || !strings.Contains(out, "recovered at") {
		t.Errorf("status says\n%s", out)
	}
	if out, _ := b.ralph(t, r, exit.Done, "plan"); !strings.Contains(out, "2 run, 2 keep") {
		t.Errorf("plan says\n%s", out)
	}
	if out, _ := b.ralph(t, r, exit.Done, "show", "1.2b"); !strings.Contains(out, "implement #1: failed") || !strings.Contains(out, "implement #2: passed") {
		t.Errorf("show says\n%s", out)
	}
	if out, _ := b.ralph(t, r, exit.Done, "journal", "verify"); !strings.Contains(out, "were lost, which is recorded") {
		t.Errorf("verify says\n%s", out)
	}
	b.ralph(t, r, exit.Done, "apply")
	if got := r.attempts(); !slices.Equal(got, []string{"bd-1-2a implement 1", "bd-1-3 implement 1"}) {
		t.Errorf("what ran: %q", got)
	}
	if got := r.files("ralph/x/integration"); got != want {
		t.Errorf("it ends with\n%s\nwant\n%s", got, want)
	}
	for _, id := range []string{"bd-epic", "bd-1-1", "bd-1-2a", "bd-1-2b", "bd-1-3"} {
		if out := string(b.do(r.dir, "show", id, "--json")); !strings.Contains(out, `"status":"closed"`) && !strings.Contains(out, `"status": "closed"`) {
			t.Errorf("at the end, in bd: %s", out)
		}
	}
	if out := string(b.do(r.dir, "comments", "bd-1-2b", "--json")); strings.Count(out, "[iter:") != 2 {
		t.Errorf("the history, in bd, at the end: %s", out)
	}
	out, _ = b.ralph(t, r, exit.Done, "apply", "--rerun", "1.2b", "--only", "1.2b")
	if got := r.attempts(); !slices.Contains(got, "bd-1-2b implement 3") {
		t.Errorf("the next attempt is none of %q\n%s", got, out)
	}
	proposed := 0
	for id, line := range b.all(t, r) {
		switch {
		case strings.Contains(line, `"`+bd.ProposalLabel+`"`):
			proposed++
		case strings.HasPrefix(id, "bd-epic.") && before[id] == "": // events of its mode
		case before[id] == "":
			t.Errorf("a bead came into being: %s", line)
		case (id == "bd-ann" || id == "bd-later") && line != before[id]:
			t.Errorf("%s was\n%s\nand is\n%s", id, before[id], line)
		}
	}
	if proposed != 4 {
		t.Errorf("%d proposals, want one of each sprint", proposed)
	}
}

// all is every bead of a database, as bd exports it, by id.
func (b *beads) all(t *testing.T, r *applyRepo) map[string]string {
	t.Helper()
	out := map[string]string{}
	for line := range strings.Lines(string(b.do(r.dir, "export"))) {
		var row struct{ ID string }
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		out[row.ID] = line
	}
	return out
}

// files lists what a commit holds, but for epic.json, which names its directory.
func (r *applyRepo) files(commit string) string {
	r.t.Helper()
	var out []string
	for line := range strings.Lines(r.git("ls-tree", "-r", commit)) {
		if !strings.HasSuffix(strings.TrimSpace(line), "epic.json") {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return strings.Join(out, "\n")
}

func (r *applyRepo) remove(path string) {
	r.t.Helper()
	if err := os.RemoveAll(filepath.Join(r.dir, path)); err != nil {
		r.t.Fatal(err)
	}
}

func (r *applyRepo) read(path string) string {
	r.t.Helper()
	b, err := os.ReadFile(filepath.Join(r.dir, path))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(b)
}
