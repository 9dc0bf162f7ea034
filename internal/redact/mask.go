package redact

import "bytes"

// Mask blanks the secrets in a text, in place: each of their bytes becomes an asterisk, so
// that everything else stays where it is. For parts of files, which are named by offsets.
func (r *Redactor) Mask(b []byte) {
	if r == nil {
		return
	}
	for at := 0; at < len(b); at += large { // in parts, for the memory's sake; a secret may reach from one into the next
		part := b[at:min(at+large+most, len(b))]
		for _, s := range r.spans(part) {
			blank(part[s.from:s.to])
		}
		if !shapeAnchors().has(part) {
			continue
		}
		for i := range shapes {
			shapes[i].mask(part)
		}
	}
}

// mask blanks what has the shape.
func (s *shape) mask(b []byte) {
	if !bytes.Contains(b, s.anchor) {
		return
	}
	for _, at := range s.re.FindAllSubmatchIndex(b, -1) {
		end := at[1]
		if len(at) > 5 { // before $2
			end = at[4]
		}
		blank(b[at[3]:end]) // behind $1
	}
}

func blank(b []byte) {
	for i := range b {
		b[i] = '*'
	}
}
