package record

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/executor/tracker/bd"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/ralphbead"
)

// KeysOf returns a function from node ids to keys; "" for an id that is not in the epic.
func KeysOf(epic *ir.Epic) func(ir.NodeID) ir.Key {
	keys := lists.Table(epic.Nodes, func(n ir.Node) (ir.NodeID, ir.Key) { return n.ID, n.Key })
	return func(id ir.NodeID) ir.Key { return keys[id] }
}

// HeadOf is the head of the integration branch, "" if it does not exist yet; in mode
// branch, the branch begins at the pinned base.
func HeadOf(ctx context.Context, epic *ir.Epic, space *workspace.Space) (string, error) {
	if epic.Epic.Integration.Mode == "branch" {
		return space.Refs.Head(ctx)
	}
	return space.Refs.Integrated(ctx)
}

// Body is an agent file without its front matter.
func Body(text string) string {
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return text
	}
	if _, after, ok := strings.Cut(rest, "\n---\n"); ok {
		return strings.TrimLeft(after, "\n")
	}
	return text
}

// IsDraft reports whether an epic was made by `ralph draft`, to write a plan.
func IsDraft(epic *ir.Epic) bool { return len(epic.Nodes) == 1 && epic.Plans() != "" }

// ApprovesDraft reports whether a decision approves a drafted plan.
func ApprovesDraft(d executor.Decision) bool {
	return d.Verb == executor.Approve && d.Gate == compiler.ApprovalGate
}

// AsksPerson reports whether a person has to approve what a draft writes.
func AsksPerson(epic *ir.Epic) bool { _, is := epic.Gates[compiler.ApprovalGate]; return is }

// Load reads and checks an epic.json. Wherever a command takes an epic, it also takes a
// Ralph bead, which is compiled, or the id of an epic (bd-…).
func Load(file string, in io.Reader) (*ir.Epic, []byte, error) { return LoadSaying(file, in, nil) }

// LoadSaying is Load for a command that runs the epic: say shows the diagnostics of a
// bead's compilation.
func LoadSaying(file string, in io.Reader, say func(*project.Compilation) error) (*ir.Epic, []byte, error) {
	return load(context.Background(), file, in, say)
}

func load(ctx context.Context, file string, in io.Reader, say func(*project.Compilation) error) (*ir.Epic, []byte, error) {
	var b []byte
	var err error
	if project.NamesBead(file) {
		return epicByID(ctx, file)
	}
	if file == "-" {
		b, err = project.ReadStdin(in)
	} else {
		b, err = project.ReadFile(file)
	}
	if err != nil {
		return nil, nil, err
	}
	if file != "-" && ralphbead.Recognize(b) {
		return project.CompileBead(file, say)
	}
	project.BesideText(len(b))
	epic, err := ir.Decode(b)
	if err != nil {
		if format := project.OtherFormat(b); format != "" {
			return nil, b, project.OtherError(file, "not an epic.json, which ralph compile and ralph import write", "import", format)
		}
		return nil, b, project.LoadError(file, err)
	}
	if err := project.Verify(epic, file); err != nil {
		return nil, b, err
	}
	if err := epic.Sealed(); err != nil {
		return nil, b, project.LoadError(file, err)
	}
	return epic, b, nil
}

// AttemptFile is a file of an attempt, with its size in bytes.
type AttemptFile struct {
	Name string // relative to the attempt's directory, with forward slashes
	Size int64
	At   time.Time // when it was last written to
}

// AttemptFiles lists the files in an attempt's directory, sorted by name; the files of a
// review are in a subdirectory. Unreadable directories count as empty.
func AttemptFiles(dir string) []AttemptFile {
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var out []AttemptFile
	for _, f := range list {
		info, err := f.Info()
		switch {
		case err != nil: // deleted meanwhile
		case info.Mode().IsRegular():
			out = append(out, AttemptFile{f.Name(), info.Size(), info.ModTime()})
		case info.IsDir():
			inner, _ := os.ReadDir(filepath.Join(dir, f.Name())) // it may be gone by now
			for _, g := range inner {
				if info, err := g.Info(); err == nil && info.Mode().IsRegular() {
					out = append(out, AttemptFile{f.Name() + "/" + g.Name(), info.Size(), info.ModTime()})
				}
			}
		}
	}
	return out
}

// JournalMark changes when the journal does.
func JournalMark(state string) string {
	var b strings.Builder
	for _, name := range []string{journal.File, journal.File + "-wal"} {
		if st, err := os.Stat(filepath.Join(state, name)); err == nil {
			fmt.Fprintf(&b, "%d %d ", st.Size(), st.ModTime().UnixNano())
		}
	}
	return b.String()
}

// Keep is the directory where runners keep files that outlive a turn: see
// executor.AgentRun.
func (r *Record) Keep() string { return filepath.Join(r.Space.State(), "runners") }

// EpicOf is the epic that a beads database keeps. An epic that was too long to keep is
// compiled again: the plan and the policy must be unchanged.
func EpicOf(known *bd.Recalled) (*ir.Epic, []byte, error) {
	if known.Epic != nil {
		return known.Epic, known.JSON, project.Verify(known.Epic, "what bead "+known.Bead.ID+" keeps")
	}
	if b, err := project.ReadFile("epic.json"); err == nil {
		if epic, err := ir.Decode(b); err == nil && epic.Digest == known.Digest {
			return epic, b, project.Verify(epic, "epic.json")
		}
	}
	again := "was too long to be kept in its bead, and "
	if known.Plan == "" {
		return nil, nil, exit.Inputf("the epic %s%sno bead says from which plan it was compiled", known.Bead.ID+" ", again)
	}
	p, err := project.Open("epic.json")
	if err != nil {
		return nil, nil, err
	}
	defer p.Close()
	plan := filepath.Join(p.Dir, filepath.FromSlash(known.Plan))
	if !filepath.IsLocal(filepath.FromSlash(known.Plan)) {
		return nil, nil, exit.Inputf("its beads say that the plan is %s, which is outside %s", known.Plan, p.Dir)
	}
	a := &project.Args{Plans: []string{plan}, Format: project.FormatText}
	c, err := a.Compile(strings.NewReader(""))
	if c != nil && c.Project != nil {
		defer c.Project.Close()
	}
	if err != nil {
		return nil, nil, exit.Inputf("the epic %s %sit cannot be compiled again from %s: %w", known.Bead.ID, again, known.Plan, err)
	}
	if c.Diags.HasErrors() || len(c.Results) != 1 {
		return nil, nil, exit.Inputf("the epic %s %sit cannot be compiled again from %s:\n%s", known.Bead.ID, again, known.Plan, c.Sources.Words(c.Diags))
	}
	raw := c.Results[0].JSON
	epic, err := ir.Decode(raw)
	if err != nil {
		return nil, nil, fmt.Errorf("decode what %s was compiled to: %w", known.Plan, err)
	}
	if epic.Digest != known.Digest {
		return nil, nil, exit.Inputf("the epic %s %s%s now compiles to another one (%.19s, not %.19s): check out the commit at which it was pushed, with its policy, and give the same flags (--var, --policy) by writing them there",
			known.Bead.ID, again, known.Plan, epic.Digest, known.Digest)
	}
	return epic, raw, nil
}

// WorkIndex is the attempt whose agent did the work: the newest with a session that
// left the result; else the newest that passed, of a step that writes; else the
// newest of such a step; else the newest with a session. -1 if none has one.
func WorkIndex(v machine.NodeView, writes func(step string) bool) int {
	for _, fits := range []func(a *machine.AttemptLog) bool{
		func(a *machine.AttemptLog) bool {
			return a.Commit != "" && a.Commit == v.Result.Commit && writes(a.Step)
		},
		func(a *machine.AttemptLog) bool { return a.Status == executor.AttemptPassed && writes(a.Step) },
		func(a *machine.AttemptLog) bool { return writes(a.Step) },
		func(*machine.AttemptLog) bool { return true },
	} {
		for i := range slices.Backward(v.Attempts) {
			if a := &v.Attempts[i]; a.Session != "" && fits(a) {
				return i
			}
		}
	}
	return -1
}

// changes lists the changes by others, in their current state.
func (r *Record) changes() []words.Change {
	return ChangesOf(r.Run, r.Key, r.About(), r.Space.Checkout.Undone)
}
