package project

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/internal/atomicfile"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/foreign"
)

// ExportEach writes a file for each sprint.
func (f *Format) ExportEach(epic *ir.Epic, h *ir.History, dir string) ([]foreign.Breach, error) {
	var all []foreign.Breach
	var batch atomicfile.Batch
	for i := range epic.Nodes {
		one := *epic
		one.Nodes = epic.Nodes[i : i+1]
		var b bytes.Buffer
		breaches, err := f.Encode(&b, &one, h)
		if err != nil {
			return nil, err
		}
		all = append(all, breaches...)
		target := filepath.Join(dir, string(epic.Nodes[i].ID)+".json")
		if err := mayExportTo(epic, target); err != nil {
			return nil, err
		}
		batch.Add(target, b.Bytes(), 0o644)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	return all, batch.Commit()
}

// WriteExport writes an export to a file.
func WriteExport(epic *ir.Epic, out string, b []byte) error {
	if err := mayExportTo(epic, out); err != nil {
		return err
	}
	if err := makeDirOf(out); err != nil {
		return err
	}
	return atomicfile.Write(out, b, 0o644)
}

// mayExportTo refuses to replace a plan, a policy, an epic, the file that the epic was
// imported from, or a file outside the project that a link leads to.
func mayExportTo(epic *ir.Epic, file string) error {
	p, err := Open(file)
	if err != nil {
		return err
	}
	defer p.Close()
	if err := p.LeadsOut(file); err != nil {
		return err
	}
	if err := notAnOutput(file); err != nil {
		return err
	}
	if path, inside := p.Rel(file); inside && path == epic.Epic.Plan {
		return exit.Inputf("the epic was made from %s, so it is not replaced; name another file with -o", file)
	}
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() {
		return nil // writing reports the error
	}
	old, err := ReadFile(file)
	if err != nil {
		return err
	}
	if strings.Contains(string(old[:min(len(old), 4096)]), `"ralph.ir/`) {
		return exit.Inputf("%s is an epic, so it is not replaced; name another file with -o", file)
	}
	return nil
}
