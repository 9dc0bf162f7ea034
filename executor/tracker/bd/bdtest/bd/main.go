package main

import (
	"os"

	"github.com/ralph-compiler/ralph/executor/tracker/bd/bdtest"
)

func main() { os.Exit(bdtest.Main()) }
