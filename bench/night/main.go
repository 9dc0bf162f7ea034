// Command night makes a repository with a simulated night behind it:
//
//	night RALPH N DIR
package main

import (
	"fmt"
	"os"
	"strconv"

	"github.com/ralph-compiler/ralph/bench/simulated"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: night RALPH N DIR")
		os.Exit(2)
	}
	n, err := strconv.Atoi(os.Args[2])
	if err == nil {
		var made *simulated.Night
		if made, err = simulated.Make(os.Args[1], n, os.Args[3]); err == nil {
			fmt.Printf("%d events\n", made.Events)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "night:", err)
		os.Exit(1)
	}
}
