package redact

import (
	"errors"
	"io"
)

// Empty reports whether no value is looked for.
func (r *Redactor) Empty() bool { return r == nil || r.raw == nil || len(r.raw.needles) == 0 }

// Count reads a text to its end and says how often each value, by name, is in it,
// in whatever form. It holds some 64 KiB of it.
func (r *Redactor) Count(text io.Reader) (map[string]int, error) {
	if r.Empty() {
		_, err := io.Copy(io.Discard, text)
		return nil, err
	}
	var found map[string]int
	buf := make([]byte, 0, most+r.hold)
	for {
		carried := len(buf)
		n, err := io.ReadFull(text, buf[carried:cap(buf)])
		buf = buf[:carried+n]
		for _, x := range r.spans(buf) {
			if int(x.to) > carried { // else it was counted before
				if found == nil {
					found = map[string]int{}
				}
				found[x.name]++
			}
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return found, nil
		case err != nil:
			return found, err
		}
		keep := min(r.hold, len(buf))
		buf = append(buf[:0], buf[len(buf)-keep:]...)
	}
}
