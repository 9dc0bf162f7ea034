// Command empty prints a line and imports nothing but fmt.
package main

import "fmt"

func main() { fmt.Println("ralph") }
