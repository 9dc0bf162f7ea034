// Package source reads JSON of other formats for the codecs: every value knows
// its place, every mistake is reported in one run with its JSON pointer, and keys
// that nobody knows are kept.
//
// In: the bytes of a file, with or without a byte order mark; one object, a list of
// objects, one object a line, or the envelope that bd puts around its answers. Out:
// Values, and through a Reader what is wrong with them. It does no I/O and imports
// diag and ir; the codecs under ir/codec import it.
package source
