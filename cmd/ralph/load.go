package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"

	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/ralphbead"
)

// loadEpic reads and checks an epic.json. A Ralph bead is compiled: it stands
// for its epic wherever a command takes one.
func loadEpic(file string, in io.Reader) (*ir.Epic, []byte, error) {
	return loadEpicSaying(file, in, nil)
}

// loadEpicSaying is loadEpic for a command that runs the epic: what the compile
// of a bead has to say goes to say.
func loadEpicSaying(file string, in io.Reader, say io.Writer) (*ir.Epic, []byte, error) {
	var b []byte
	var err error
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
	epic, err := ir.Decode(b)
	if err != nil {
		return nil, b, loadError(file, err)
	}
	if err := refuseUnsafe(epic, file); err != nil {
		return nil, b, err
	}
	return epic, b, nil
}

// epicDir is a directory of the repository that an epic is about: that of its
// file, or the current one for standard input and for the copy that a run keeps
// in its state (.git/ralph/ID/epic.json), which is how the epic of a bead can be
// named when the bead is gone.
func epicDir(file string) string {
	if file == "-" {
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

// refuseUnsafe refuses an epic whose paths, branches or references no compile
// would have written, although its digest fits: it may come from a stranger.
func refuseUnsafe(epic *ir.Epic, file string) error {
	for _, err := range epic.Verify() {
		var b *ir.Breach
		if errors.As(err, &b) && unsafePlace.MatchString(b.Path) {
			return inputErrorf("%s is no epic that ralph compiled, or it leaves the project: %w", file, err)
		}
	}
	return nil
}

// unsafePlace are the places of an epic that name files, branches and other
// parts of it.
var unsafePlace = regexp.MustCompile(`^epic\.(id|slug|plan|base|target|integration)|^run\.worktree\.|^agents\..*path|\.(git|scope|id|key|after|merges|protect)\b`)

// loadError says what to do about an epic.json that cannot be used.
func loadError(file string, err error) error {
	var edited *ir.DigestError
	if errors.As(err, &edited) {
		return inputErrorf("%s was edited by hand: its digest does not fit its content.\n  Change the plan or the policy instead and run: ralph compile", file)
	}
	return inputErrorf("%s: %w", file, err)
}
