// Package text shortens, counts and lists words for people: in messages, summaries,
// titles and names of files. What comes in and goes out are strings; a result never
// holds a part of a character that was whole before.
//
// It imports only the standard library's string packages and does no I/O, so that
// every package may import it. What a terminal shows is internal/term's, what does not
// show is internal/reveal's.
package text
