// Package view is what people see in a terminal: a run as it goes on, diagnostics, tables,
// the branch as git has it.
//
// In: values of the rooms below it. Out: text with colours on an io.Writer, or JSON. It
// decides nothing. app/cli imports it, and nobody else.
package view
