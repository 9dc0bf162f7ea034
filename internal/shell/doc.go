// Package shell finds the files that a shell command line names: the programs and
// scripts it starts, and every other path in it. It runs nothing and looks nothing up.
//
// In: a line as for sh -c, or a program's words. Out: relative paths, each with its use
// in the line. It imports, alone in the module, mvdan.cc/sh. It omits what it does not
// understand.
package shell
