package project

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/ir"
)

// EpicDir is a directory in the repository that an epic is about: the directory of its
// file, or the current directory for standard input and for the copy that a run keeps in
// its state (.git/ralph/ID/epic.json). That copy names the epic of a bead that no longer
// exists.
func EpicDir(file string) string {
	if file == "-" || NamesBead(file) {
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

// Verify refuses an epic whose digest matches but that compile would not have written: it
// may come from a stranger, or from another version of ralph.
func Verify(epic *ir.Epic, file string) error {
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
	return exit.Inputf("%s is not an epic compiled by this ralph, or it leaves the project; compile the plan again:%s", file, list)
}

// OtherFormat recognizes work in another format by a key that only this format has; ""
// if there is none.
func OtherFormat(b []byte) string {
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

// OtherError is the error for a file in another format: what was expected, and which
// command reads the file.
func OtherError(file, not, command, format string) error {
	return exit.Inputf("%s is %s.\n  It looks like the format %s: ralph %s --as %s %s", file, not, format, command, format, words.QuotePath(file))
}

// LoadError is the error for an unusable epic.json, with what to do about it.
func LoadError(file string, err error) error {
	edited, is := errors.AsType[*ir.DigestError](err)
	switch {
	case is && edited.Node != "":
		return exit.Inputf("%s was edited, or compiled by another version of ralph: the digest of %s does not match its content.\n  Compile the plan again: ralph compile", file, edited.Node)
	case is:
		return exit.Inputf("%s was edited by hand: its digest does not match its content.\n  Change the plan or the policy instead and run: ralph compile", file)
	case KindOf(file) == "plan":
		return exit.Inputf("%s is a plan. Compile it first: ralph compile %s\n  Then name the epic.json that it writes.", file, words.QuotePath(file))
	}
	return exit.Inputf("%s: %w", file, err)
}
