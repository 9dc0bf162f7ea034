// Package ralphbead reads and writes Ralph beads: JSON files that each hold one piece of
// work with its definition of done, as PowerShell's Ralph executors write them.
//
// In: the bytes of files, with or without a byte order mark, with keys in
// snake_case, PascalCase or camelCase. Out: an ir.Draft with a node for each bead, which the
// compiler turns into an epic under the policy, and all mistakes in the file, found in one
// pass, each with the JSON pointer and the position of the value.
// docs/formats/ralph-bead.md says what each field becomes and what is lost.
//
// It does no I/O. It imports ir and diag; app calls it.
package ralphbead
