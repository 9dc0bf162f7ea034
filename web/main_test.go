package web_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-compiler/ralph/app/cli"
	"github.com/ralph-compiler/ralph/internal/temptest"
)

// TestMain is ralph when it is called by that name: the tests run real ones.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "ralph" {
		os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(temptest.Run(m))
}
