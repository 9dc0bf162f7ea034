// Package foreign is what the codecs of other formats share: JSON that knows its
// places, so that every mistake is reported in one run with its JSON pointer and keys
// that nobody knows are kept; and what a codec is (Decode, Encode), what it cannot
// carry (Loss), unmet requirements of a format (Breach).
//
// In: the bytes of a file, with or without a byte order mark; one object, a list of
// objects, one object a line, or the envelope that bd puts around its answers. Out:
// Values, and through a Reader what is wrong with them. It does no I/O and imports
// diag and ir; the codecs under ir/codec import it.
package foreign
