// Package columns measures and shortens text by the columns that it takes on a screen.
// It is a leaf, so that rooms that never touch a terminal can align their text.
package columns

import "github.com/mattn/go-runewidth"

// Of returns how many columns text takes.
func Of(text string) int { return runewidth.StringWidth(text) }

// OfRune returns how many columns a character takes: 0, 1 or 2.
func OfRune(r rune) int { return runewidth.RuneWidth(r) }

// Truncate shortens text to at most width columns, ending in "…".
func Truncate(text string, width int) string { return runewidth.Truncate(text, width, "…") }
