// Offline runs a command where no network but loopback can be reached, and says so:
//
//	offline COMMAND [ARGUMENT…]
//
// Where the system lets nobody have a network of their own, it says that nothing is
// proved and runs the command all the same; with RALPH_OFFLINE=require it fails.
// make e2e runs the tests of real agent programs with it. It imports only the
// standard library.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
)

func main() { os.Exit(run(os.Args[1:])) }

func run(argv []string) int {
	if len(argv) == 0 {
		fmt.Fprintln(os.Stderr, "usage: offline COMMAND [ARGUMENT…]")
		return 2
	}
	if os.Getenv(insideVar) != "" {
		err := inside(argv)
		fmt.Fprintln(os.Stderr, "offline:", err)
		return notProved
	}
	code, err := apart(argv)
	if err == nil {
		return code
	}
	fmt.Fprintf(os.Stderr, "offline: NOT PROVED: no network of its own for this command (%v); it runs with the machine's\n", err)
	if os.Getenv("RALPH_OFFLINE") == "require" {
		return 1
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return codeOf(cmd.Run())
}

// insideVar says to the program that it runs in the network of its own; notProved is
// its exit code when that is none.
const (
	insideVar = "RALPH_OFFLINE_INSIDE"
	notProved = 117
)

func codeOf(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	fmt.Fprintln(os.Stderr, "offline:", err)
	return 1
}
