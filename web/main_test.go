package web_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-compiler/ralph/app/cli"
	"github.com/ralph-compiler/ralph/internal/temptest"
)

// TestMain is ralph when it is called by that name, or bd: the tests run real ones. They have a
// home of their own: nobody's git configuration counts.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "ralph" {
		os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	home, err := os.MkdirTemp("", "ralph-home-")
	if err == nil {
		err = errors.Join(os.Setenv("HOME", home), os.Setenv("XDG_CONFIG_HOME", home))
	}
	if err != nil {
		panic(err)
	}
	code := temptest.Run(m)
	_ = os.RemoveAll(home)
	os.Exit(code)
}
