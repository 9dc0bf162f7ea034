// Package temptest keeps the temporary files of tests in memory. Git and SQLite sync what
// they write; a test that pulls no plug only waits for that. Pin keeps the processes of a
// test on one processor. Turn and Share divide what takes long among the runs of CI.
//
// It is for tests alone and imports the standard library.
package temptest

import "os"

// Run runs the tests of a package with their temporary files in memory, if TMPDIR is not
// set and the system has a file system in memory with enough room, from which programs
// may be run. Real agent programs stay on the disk: Codex's sandbox has a /dev of its own.
// All files are removed when the tests end.
func Run(m interface{ Run() int }) (code int) {
	parent := ""
	if os.Getenv("TMPDIR") == "" && os.Getenv("RALPH_E2E_AGENTS") == "" {
		parent = inMemory()
	}
	dir, err := os.MkdirTemp(parent, "ralph-test-")
	if err == nil {
		err = os.Setenv("TMPDIR", dir)
	}
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	return m.Run()
}
