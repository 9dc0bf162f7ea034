// Package text shortens, counts and lists words for people: in messages, summaries,
// titles and file names. Input and output are strings; no result splits a character.
//
// It imports only the standard library's string packages and does no I/O, so that
// every package may import it. Terminal output is internal/term's, invisible
// characters are internal/reveal's.
package text
