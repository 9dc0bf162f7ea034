// Package foreign is what the codecs of other formats share: JSON with positions, so
// that every mistake is reported in one run with its JSON pointer and unknown keys are
// kept; and the definition of a codec (Decode, Encode), what it cannot carry (Loss),
// unmet requirements of a format (Breach).
//
// In: the bytes of a file, with or without a byte order mark; one object, a list of
// objects, one object per line, or the envelope of bd's answers. Out: Values, and
// through a Reader their mistakes. It does no I/O and imports diag and ir; the codecs
// under ir/codec import it.
package foreign
