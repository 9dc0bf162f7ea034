package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/executor/tracker/bd"
	"github.com/ralph-compiler/ralph/ir"
)

// planPlace is a node's location in its plan's current text.
type planPlace struct {
	File    string // as it is named from the project's top; "" if there is none
	path    string // absolute
	Line    int    // of its heading, from 1; 0 if it is not there any more
	Section string
	there   bool // the file is
}

// String is the place in the form that editors and terminals know: "docs/plan.md:14".
func (p planPlace) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

// placeOf looks a node up in its plan. top is the project's directory.
func placeOf(top, plan string, id ir.NodeID, section string, key ir.Key) planPlace {
	p := planPlace{File: plan, Section: section}
	local := filepath.FromSlash(plan)
	if plan == "" || !filepath.IsLocal(local) {
		return p
	}
	p.path = filepath.Join(top, local)
	if project.Confined(p.path) != nil {
		return p
	}
	b, err := project.ReadFile(p.path)
	if err != nil {
		return p
	}
	p.there = true
	if ext := strings.ToLower(filepath.Ext(plan)); ext == ".md" || ext == ".markdown" || ext == "" {
		p.Line = compiler.Locate(diag.NewFile(plan, b), id, section, key)
	}
	return p
}

// placed is the location of a recorded node in its plan.
func placed(r *record.Record, id ir.NodeID) planPlace {
	n := r.Node(id)
	return placeOf(r.Space.Top(), r.Epic.Epic.Plan, n.ID, n.Section, n.Key)
}

// open opens an editor at a place, or says where it is when there is no editor.
func (p planPlace) open(ctx context.Context, in io.Reader, out, errOut io.Writer) error {
	if !p.there {
		return exit.Inputf("there is no plan to open: %s", p.File)
	}
	editor := os.Getenv("VISUAL")
	if editor == "" {
		editor = os.Getenv("EDITOR")
	}
	if strings.TrimSpace(editor) == "" {
		view.Sayf(out, "%s\n", p)
		return nil
	}
	// As git does it: the variable may hold arguments, and quotes.
	cmd := exec.CommandContext(ctx, "/bin/sh", slices.Concat([]string{"-c", editor + ` "$@"`, editor}, editorArgs(editor, p.path, p.Line))...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, errOut
	if err := cmd.Run(); err != nil {
		var after *exec.ExitError
		if errors.As(err, &after) {
			return exit.Inputf("the editor (%s) ended with %v", editor, err)
		}
		return exit.Inputf("the editor (%s) cannot be started: %w", editor, err)
	}
	return nil
}

// editorArgs say to an editor which file to open, and at which line.
func editorArgs(editor, path string, line int) []string {
	if line == 0 {
		return []string{path}
	}
	words := strings.Fields(editor)
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(strings.Trim(words[0], `"'`))), ".exe")
	at := fmt.Sprintf("%s:%d", path, line)
	switch name {
	case "code", "code-insiders", "codium", "vscodium", "cursor", "windsurf":
		return []string{"-g", at}
	case "subl", "sublime_text", "hx", "helix", "zed", "zeditor":
		return []string{at}
	case "idea", "goland", "pycharm", "webstorm", "clion", "rider", "kate", "notepadqq":
		return []string{"--line", fmt.Sprint(line), path}
	case "mate":
		return []string{"-l", fmt.Sprint(line), path}
	case "vi", "vim", "nvim", "gvim", "mvim", "view", "ex", "nano", "pico", "emacs", "emacsclient", "micro", "joe", "jed", "kak", "ne", "mg", "gedit", "mcedit", "less":
		return []string{fmt.Sprintf("+%d", line), path}
	}
	return []string{path} // who knows what it takes a "+14" for
}

// recordOf opens the epic that a sprint belongs to: what --epic or epic.json say, else
// for the id of a bead the epic that beads say it is part of. None is no error.
func recordOf(ctx context.Context, epic *record.Flag, key string, in io.Reader) (*record.Record, ir.NodeID, error) {
	file, err := epic.Path()
	if err == nil {
		r, err := record.Open(ctx, file, in)
		if err != nil {
			return nil, "", err
		}
		id, err := record.Find(r.Epic, key)
		if err == nil || !project.BeadID.MatchString(key) || !knownBead(ctx, key) {
			return r, id, err
		}
		return nil, "", nil
	}
	if !errors.Is(err, project.ErrNoEpic) || !project.BeadID.MatchString(key) {
		return nil, "", err
	}
	c, err := bd.Open(ctx, bd.Options{Dir: "."})
	if err != nil {
		return nil, "", nil // showBead says so
	}
	n, err := c.RecallNode(ctx, key)
	if of := string(n.Bead.EpicOf()); err == nil && of != "" && of != key {
		if r, err := record.Open(ctx, of, in); err == nil {
			if id, err := record.Find(r.Epic, key); err == nil {
				return r, id, nil
			}
		}
	}
	return nil, "", nil
}

// knownBead reports whether there are beads here, and this one among them.
func knownBead(ctx context.Context, id string) bool {
	c, err := bd.Open(ctx, bd.Options{Dir: "."})
	if err != nil {
		return false
	}
	_, err = c.RecallNode(ctx, id)
	return err == nil
}

// showBead shows a bead that is in no epic.json here: what beads say about it, and
// where its plan is.
func showBead(ctx context.Context, id string, open, asJSON bool, in io.Reader, out, errOut io.Writer) error {
	c, err := bd.Open(ctx, bd.Options{Dir: "."})
	if err != nil {
		return exit.Inputf("there is no epic with a sprint %s here, and no beads to look it up:\n  %w", id, err)
	}
	n, err := c.RecallNode(ctx, id)
	if err != nil {
		return exit.Inputf("there is no epic with a sprint %s here, and %w", id, err)
	}
	p, err := project.Open("epic.json")
	if err != nil {
		return err
	}
	defer p.Close()
	at := placeOf(p.Dir, n.Plan, ir.NodeID(id), n.Section, ir.Key(n.Sprint))
	switch {
	case open && n.Plan == "":
		return exit.Inputf("bead %s (%s) does not say from which plan it is", id, n.Bead.Title)
	case open:
		return at.open(ctx, in, out, errOut)
	case asJSON:
		return view.WriteJSON(out, record.BeadJSON{
			Version: record.BeadVersion, ID: id, Title: n.Bead.Title, Status: n.Bead.Status, Epic: n.Bead.EpicOf(), Plan: n.Plan, PlanLine: at.Line, Section: n.Section, Kept: n.Kept,
		})
	}
	w := &sheet{}
	w.line("%s  %s", id, n.Bead.Title)
	w.field("status", n.Bead.Status+" (in beads)")
	w.field("epic", string(n.Bead.EpicOf()))
	w.field("sprint", n.Sprint)
	w.field("plan", at.String())
	w.field("section", n.Section)
	if k := n.Kept; k != nil && k.Success != nil {
		w.field("result", k.Success.Result.Commit)
	}
	if epic := n.Bead.EpicOf(); epic != "" && string(epic) != id {
		w.head("Next")
		view.WriteSteps(&w.b, []record.NextStep{{Command: "ralph recover " + string(epic), What: "go on with its run in this repository"}})
	}
	_, err = io.WriteString(out, w.b.String())
	return err
}
