package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/ralphbead"
)

// loadEpic reads and checks an epic.json. A Ralph bead is compiled: it stands
// for its epic wherever a command takes one, and so does the id of an epic (bd-…).
func loadEpic(file string, in io.Reader) (*ir.Epic, []byte, error) {
	return loadEpicSaying(file, in, nil)
}

// loadEpicSaying is loadEpic for a command that runs the epic: what the compile
// of a bead has to say is shown by say.
func loadEpicSaying(file string, in io.Reader, say func(*compilation) error) (*ir.Epic, []byte, error) {
	var b []byte
	var err error
	if namesBead(file) {
		return epicByID(file)
	}
	if file == "-" {
		b, err = readStdin(in)
	} else {
		b, err = readFile(file)
	}
	if err != nil {
		return nil, nil, err
	}
	if file != "-" && ralphbead.Recognize(b) {
		return compileBead(file, say)
	}
	besideText(len(b))
	epic, err := ir.Decode(b)
	if err != nil {
		if format := otherFormat(b); format != "" {
			return nil, b, otherError(file, "no epic.json, which ralph compile and ralph import write", "import", format)
		}
		return nil, b, loadError(file, err)
	}
	if err := verify(epic, file); err != nil {
		return nil, b, err
	}
	if err := epic.Sealed(); err != nil {
		return nil, b, loadError(file, err)
	}
	return epic, b, nil
}

// epicDir is a directory of the repository that an epic is about: that of its
// file, or the current one for standard input and for the copy that a run keeps
// in its state (.git/ralph/ID/epic.json), which is how the epic of a bead can be
// named when the bead is gone.
func epicDir(file string) string {
	if file == "-" || namesBead(file) {
		return "."
	}
	dir := filepath.Dir(file)
	if abs, err := filepath.Abs(dir); err == nil && filepath.Base(filepath.Dir(abs)) == "ralph" {
		if info, err := os.Stat(filepath.Join(abs, "..", "..", "HEAD")); err == nil && info.Mode().IsRegular() {
			return "."
		}
	}
	return dir
}

// verify refuses an epic that no compile would have written, although its digest
// fits: it may come from a stranger, or from another ralph.
func verify(epic *ir.Epic, file string) error {
	found := epic.Verify()
	if len(found) == 0 {
		return nil
	}
	const most = 5
	list := ""
	for _, err := range found[:min(len(found), most)] {
		list += "\n  - " + err.Error()
	}
	if len(found) > most {
		list += fmt.Sprintf("\n  and %d more", len(found)-most)
	}
	return inputErrorf("%s is no epic that this ralph compiled, or it leaves the project; compile the plan again:%s", file, list)
}

// otherFormat recognizes work that is kept in another format, by a key that no other
// has; "" if it is none.
func otherFormat(b []byte) string {
	line, _, _ := bytes.Cut(b, []byte("\n")) // lines of JSON begin with a whole value
	var all map[string]json.RawMessage
	if !json.Valid(b) && !json.Valid(line) || json.Unmarshal(b, &all) == nil && all["ir"] != nil {
		return ""
	}
	for _, f := range []struct{ key, format string }{
		{"dev_prompts", "bead"}, {"issue_type", "bd"}, {"successCriteria", "beadsmith"}, {"testStrategy", "taskmaster"},
	} {
		if bytes.Contains(b, []byte(`"`+f.key+`"`)) {
			return f.format
		}
	}
	return ""
}

// otherError says of a file in another format what it is not, and which command reads it.
func otherError(file, not, command, format string) error {
	return inputErrorf("%s is %s.\n  It looks like the format %s: ralph %s --as %s %s", file, not, format, command, format, quotePath(file))
}

// loadError says what to do about an epic.json that cannot be used.
func loadError(file string, err error) error {
	var edited *ir.DigestError
	if errors.As(err, &edited) && edited.Node != "" {
		return inputErrorf("%s was edited, or compiled by another version of ralph: the digest of %s does not fit what it says.\n  Compile the plan again: ralph compile", file, edited.Node)
	}
	if errors.As(err, &edited) {
		return inputErrorf("%s was edited by hand: its digest does not fit its content.\n  Change the plan or the policy instead and run: ralph compile", file)
	}
	if kindOf(file) == "plan" {
		return inputErrorf("%s is a plan. Compile it first: ralph compile %s\n  Then name the epic.json that it makes.", file, quotePath(file))
	}
	return inputErrorf("%s: %w", file, err)
}
