// Package slug makes short ASCII names out of titles: for the slug of an epic,
// for branch names and for worktree directories.
//
// In: any text, also invalid UTF-8. Out: letters a to z, digits and "-", never
// empty, at most MaxBytes long. It imports, alone in the module,
// golang.org/x/text. The compiler calls it.
package slug
