package project

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/internal/atomicfile"
	"github.com/ralph-compiler/ralph/internal/regular"
)

// WriteOver writes an output file. One that already has text is replaced only if own says
// that ralph can recreate it; not describes it if it cannot: " and is not …", or "".
func WriteOver(out string, b []byte, not string, own func(old []byte) bool) error {
	old, err := regular.ReadFile(out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case len(bytes.TrimSpace(old)) > 0 && !own(old):
		return notReplaced(out, not)
	}
	return atomicfile.Write(out, b, 0o644)
}

func notReplaced(out, not string) error {
	return exit.Inputf("%s exists%s, so it is not replaced; name another file with -o, or delete it", out, not)
}

// notAnOutput refuses a name that a plan or a policy has.
func notAnOutput(file string) error {
	if kind := KindOf(file); kind == "plan" || kind == "policy" {
		return exit.Inputf("%s is the name of a %s; name another file with -o", file, kind)
	}
	return nil
}

func makeDirOf(file string) error { return os.MkdirAll(filepath.Dir(file), 0o755) }
