package project

import (
	"bytes"
	"io"
	"os"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/internal/atomicfile"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/ir"
)

// WriteEpics replaces epics and plans together, or prints the epic.
func (c *Compilation) WriteEpics(a *Args, out io.Writer, targets []string) error {
	var batch atomicfile.Batch
	for i, r := range c.Results {
		if targets[i] == "-" {
			continue
		}
		if err := c.Project.LeadsOut(targets[i]); err != nil {
			return err
		}
		if isPicture(targets[i]) {
			return exit.Inputf("%s is the name of a drawing, and an epic is JSON: name another file with -o. To draw it: %s -o %s", targets[i], a.drawsGraph(i), words.QuotePath(targets[i]))
		}
		if err := c.mayReplace(targets[i]); err != nil {
			return err
		}
		if err := makeDirOf(targets[i]); err != nil {
			return err
		}
		if len(r.JSON) > ir.MaxBytes {
			return exit.Inputf("%s would have %d MB; at most %d MB are read: write several plans", targets[i], len(r.JSON)>>20, ir.MaxBytes>>20)
		}
		batch.Add(targets[i], r.JSON, 0o644)
	}
	for i, r := range c.Results {
		p := c.Plans[i]
		if a.NoAnnotate || p.File == "-" || bytes.Equal(r.Annotated, p.Bytes) {
			continue
		}
		now, err := regular.ReadFile(p.File)
		if err != nil {
			return err
		}
		if !bytes.Equal(now, p.Bytes) {
			return exit.Inputf("%s changed while it was compiled; nothing was written: compile again", p.File)
		}
		batch.Add(p.File, r.Annotated, 0o644)
	}
	for i, r := range c.Results { // first: a failed write must not leave ids of a lost epic in the plan
		if targets[i] == "-" {
			if _, err := out.Write(r.JSON); err != nil {
				return exit.Inputf("write standard output: %w", err)
			}
		}
	}
	return batch.Commit()
}

// mayReplace refuses a file that compile read, or that exists and is not an epic: -o replaces what compile can make again, never a plan, a policy or
// anything else. A broken or conflicted epic still has its format in it.
func (c *Compilation) mayReplace(file string) error {
	info, err := os.Stat(file)
	if os.IsNotExist(err) {
		return notAnOutput(file)
	}
	if err != nil || !info.Mode().IsRegular() {
		return nil // writing reports the error
	}
	if path, inside := c.Project.Rel(file); inside && c.Files[path] != nil {
		return exit.Inputf("%s is the source, so it is not replaced; name another file with -o", file)
	}
	epic, err := MayBeEpic(file)
	if err == nil && !epic {
		return notReplaced(file, " and is not an epic.json")
	}
	return err
}
