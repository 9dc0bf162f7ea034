// Package shell reads a line of shell for the files that it names: the programs and
// scripts that it starts, and every other path in it. Nothing is run and
// nothing is looked up.
//
// In: a line as sh -c gets it, or the words of a program. Out: relative paths, each with
// what the line does with it. It imports, alone in the module, mvdan.cc/sh. What it does
// not understand it leaves out.
package shell
