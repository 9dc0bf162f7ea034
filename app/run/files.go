package run

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/shell"
	"github.com/ralph-compiler/ralph/ir"
)

// startFiles are the files that the commands of a run name, as the commits have them
// that its sprints start from.
type startFiles struct {
	refused []string // programs that the checkout has and a sprint would not find
	Notes   []string // programs that no one has yet, or that may be missing
	differ  []string // other files that are not as in the checkout
}

// startsFrom is what a run starts from, as far as it is known before it starts.
type startsFrom struct {
	epic   *ir.Epic
	space  *workspace.Space
	base   executor.Tree
	bases  []executor.NamedTree
	Pinned bool                               // the base was pinned before
	held   []executor.Tree                    // results on record, which may hold a file that the base lacks
	Will   func() (map[ir.NodeID]bool, error) // nodes that will run; it is asked only where that matters
}

// NewStartsFrom is where a run with this start begins. It is called before the run is
// planned, which consumes it.
func NewStartsFrom(epic *ir.Epic, space *workspace.Space, run *machine.Run, start executor.RunStarted) startsFrom {
	f := startsFrom{epic: epic, space: space, base: start.Base, bases: start.Bases, Pinned: run.Bases().Base().Commit != ""}
	f.held = lists.Map(run.Views(), func(v machine.NodeView) executor.Tree { return v.Result })
	f.held = slices.DeleteFunc(f.held, func(t executor.Tree) bool { return t.Commit == "" })
	return f
}

// Look finds problems with the files that commands name.
func (f startsFrom) Look(ctx context.Context) (startFiles, error) {
	var out startFiles
	at := map[executor.Tree][]*ir.Node{}
	for i := range f.epic.Nodes {
		if n := &f.epic.Nodes[i]; !n.Done {
			at[f.baseOf(n)] = append(at[f.baseOf(n)], n)
		}
	}
	var will map[ir.NodeID]bool
	for _, base := range append([]executor.Tree{f.base}, trees(f.bases)...) {
		nodes := at[base]
		delete(at, base)
		found, err := f.wrong(ctx, base, usesOf(f.epic, nodes))
		if err != nil || len(found) == 0 {
			if err != nil {
				return out, err
			}
			continue
		}
		if will == nil {
			if will, err = f.Will(); err != nil {
				return out, err
			}
		}
		nodes = slices.DeleteFunc(nodes, func(n *ir.Node) bool { return !will[n.ID] })
		if found, err = f.wrong(ctx, base, usesOf(f.epic, nodes)); err != nil {
			return out, err
		}
		if err := f.sort(ctx, base, found, &out); err != nil {
			return out, err
		}
	}
	slices.Sort(out.differ)
	out.differ = slices.Compact(out.differ)
	return out, nil
}

func trees(bases []executor.NamedTree) []executor.Tree {
	return lists.Map(bases, func(b executor.NamedTree) executor.Tree { return b.Tree })
}

// baseOf is the base that a node names, else the epic's: what sprints before it make
// comes on top.
func (f startsFrom) baseOf(n *ir.Node) executor.Tree {
	for _, b := range f.bases {
		if b.Name == n.Git.Base && !slices.ContainsFunc(n.After, func(e ir.Edge) bool { return e.Type == ir.Blocks }) {
			return b.Tree
		}
	}
	return f.base
}

// wrongFile is a file that is not in a base, or not as in the checkout.
type wrongFile struct {
	usedFile
	here      bool   // the checkout has it
	lacks     bool   // the base does not
	submodule string // it is in this one, and nothing brings that
}

// wrong lists the files that are not in a base as they are in the checkout.
func (f startsFrom) wrong(ctx context.Context, base executor.Tree, uses []usedFile) ([]wrongFile, error) {
	var paths []string
	here := map[string]bool{}
	for _, u := range uses {
		st, err := os.Stat(filepath.Join(f.space.Top(), filepath.FromSlash(u.Path)))
		if err == nil && !st.Mode().IsRegular() {
			continue // a directory, as in ./...
		}
		if here[u.Path] = err == nil; here[u.Path] || u.Program {
			paths = append(paths, u.Path)
		}
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	lacks, err := f.space.Files.Lacks(ctx, base.Commit, paths)
	if err != nil {
		return nil, err
	}
	differ, err := f.space.Files.Differs(ctx, base.Commit, slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return !here[p] }))
	if err != nil {
		return nil, err
	}
	in, err := f.space.Files.Submodules(ctx, base.Commit, paths)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(f.epic.Run.Worktree.Setup, func(line string) bool { return strings.Contains(line, "submodule") }) {
		in = nil
	}
	var out []wrongFile
	for _, u := range uses {
		w := wrongFile{u, here[u.Path], slices.Contains(lacks, u.Path), in[u.Path]}
		if u.Program && !u.Optional && !u.Late && w.submodule != "" || w.lacks && (w.here || u.Program && !u.Late && !u.Optional) || w.here && slices.Contains(differ, u.Path) {
			out = append(out, w)
		}
	}
	return out, nil
}

// sort says of each wrong file what it means for a run.
func (f startsFrom) sort(ctx context.Context, base executor.Tree, found []wrongFile, out *startFiles) error {
	paths := lists.Map(found, func(w wrongFile) string { return w.Path })
	ignored, err := f.space.Files.Ignored(ctx, paths)
	if err != nil {
		return err
	}
	has := func(commit, path string) bool {
		lacks, err := f.space.Files.Lacks(ctx, commit, []string{path})
		return err == nil && len(lacks) == 0
	}
	for _, w := range found {
		switch made := slices.Contains(ignored, w.Path); {
		case f.copied(w.Path):
		case w.submodule != "":
			out.Notes = append(out.Notes, fmt.Sprintf("%s (%s) is in the submodule %s, which an agent's worktree does not have: worktree { setup = [\"git submodule update --init\"] }", w.Path, w.by, w.submodule))
		case !w.lacks:
			out.differ = append(out.differ, w.Path)
		case slices.ContainsFunc(f.held, func(t executor.Tree) bool { return has(t.Commit, w.Path) }):
		case made && (w.Late || len(f.epic.Run.Worktree.Setup) > 0 && !strings.HasPrefix(w.by, "setup ")):
			// a command before it makes it there, as it did here
		case w.Program && w.here && w.Optional:
			out.Notes = append(out.Notes, fmt.Sprintf("%s (%s) is in this checkout and not in the commit that agents start from (%.12s): the command decides what happens without it", w.Path, w.by, base.Commit))
		case w.Program && w.here && (w.Made || f.setupMakes(w)):
			out.Notes = append(out.Notes, fmt.Sprintf("%s (%s) is in this checkout and not in the commit that agents start from (%.12s): a command before it has to make it there", w.Path, w.by, base.Commit))
		case w.Program && w.here:
			out.refused = append(out.refused, fmt.Sprintf("%s (%s): %s", w.Path, w.by, f.mend(ctx, w.Path, base, made, has)))
		case w.Program:
			out.Notes = append(out.Notes, fmt.Sprintf("%s (%s) is neither in this checkout nor in the commit that agents start from (%.12s): a sprint has to make it before it is needed", w.Path, w.by, base.Commit))
		case !made:
			out.differ = append(out.differ, w.Path)
		}
	}
	return nil
}

// copied reports whether worktree { copy } brings a file.
func (f startsFrom) copied(path string) bool {
	return slices.ContainsFunc(f.epic.Run.Worktree.Copy, func(c string) bool {
		c = filepath.ToSlash(filepath.Clean(c))
		return c == path || c == "." || strings.HasPrefix(path, c+"/")
	})
}

// setupMakes reports whether a setup command before it names a file, or its directory, as
// something that it may write.
func (f startsFrom) setupMakes(w wrongFile) bool {
	for i, line := range f.epic.Run.Worktree.Setup {
		if w.by == setupName(i) {
			break
		}
		if shell.Within(shell.Makes(line), w.Path) {
			return true
		}
	}
	return false
}

// mend says what to type to get a file into a base.
func (f startsFrom) mend(ctx context.Context, path string, base executor.Tree, ignored bool, has func(commit, path string) bool) string {
	then := ""
	if f.Pinned {
		then = ", then: ralph apply --rebase"
	}
	if at, err := f.space.Bases.Moved(ctx); err == nil && at != "" && at != base.Commit && has(at, path) {
		return fmt.Sprintf("the commit that agents start from (%.12s) lacks it, its branch has it by now (%.12s): ralph apply --rebase", base.Commit, at)
	}
	way := f.space.Files.Way(path) // git takes nothing that is behind a link
	add := strings.Join(lists.Map(way, words.QuotePath), " ")
	switch {
	case ignored:
		return fmt.Sprintf("git ignores it: write worktree { copy = [%q] }, or a setup command that makes it, or: git add --force %s && git commit%s", path, add, then)
	case has("HEAD", path):
		return fmt.Sprintf("it is committed here and not in the commit that agents start from (%.12s of %s): merge it there%s", base.Commit, cmp.Or(f.epic.Epic.Base, "HEAD"), then)
	}
	return fmt.Sprintf("it is not committed: git add %s && git commit -m %s%s", add, words.QuoteArg("add "+path), then)
}

// Refusal is the error with the programs that sprints would not find.
func (s startFiles) Refusal() error {
	if len(s.refused) == 0 {
		return nil
	}
	return exit.Unstartedf("agents and gates would not find the programs that they start:\n  - %s", strings.Join(s.refused, "\n  - "))
}

// Warning names the files that differ in the sprints' base.
func (s startFiles) Warning(base executor.Tree, pinned bool) string {
	if len(s.differ) == 0 {
		return ""
	}
	then := "Commit them first."
	if pinned {
		then = "To let them see it: commit, then ralph apply --rebase."
	}
	return fmt.Sprintf("%s: not committed, or different in the commit that agents start from (%.12s): they see that version, or none. %s", words.ListOf(s.differ), base.Commit, then)
}

// checkFiles refuses programs that agents and gates would not find in the commits that
// they start from, before the bases are pinned, and keeps what else there is to say.
func (r *Opened) checkFiles(ctx context.Context, a *Args) error {
	start, err := record.PlannedStart(ctx, r.Epic, r.Space, r.Run, a.Only, a.Rerun, a.Rebase)
	if err != nil {
		return err
	}
	if a.Base != "" {
		start.Base, start.Bases = executor.Tree{Commit: a.Base}, nil
	}
	f := NewStartsFrom(r.Epic, r.Space, r.Run, start)
	f.Will = func() (map[ir.NodeID]bool, error) { // another machine: to plan is to use it up
		run, err := machine.Replay(r.Epic, r.log.Events(ctx))
		if err != nil {
			return nil, err
		}
		planned, err := machine.Plan(run, start, time.Now())
		return record.WillRun(planned), err
	}
	found, err := f.Look(ctx)
	if err != nil {
		return err
	}
	r.notes = found.Notes
	if w := found.Warning(start.Base, f.Pinned); w != "" {
		r.differ = []string{w}
	}
	return found.Refusal()
}
