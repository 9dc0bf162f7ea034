// Package view renders what people see in a terminal: a run in progress, diagnostics,
// tables, and the integration branch as it is in git.
//
// In: values of the rooms below it. Out: text with colours on an io.Writer, or JSON. It
// decides nothing. Only app/cli imports it.
package view
