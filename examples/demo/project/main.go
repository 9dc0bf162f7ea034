// Command links keeps short names for long addresses. It answers on standard
// output what it is told on standard input, a line at a time.
package main

import (
	"fmt"
	"os"
)

func main() {
	if err := New().Serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "links:", err)
		os.Exit(1)
	}
}
