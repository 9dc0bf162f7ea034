// Command ralph compiles plans into reviewable graphs of work and applies them with
// coding agents.
package main

import (
	"os"

	"github.com/ralph-compiler/ralph/app/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
