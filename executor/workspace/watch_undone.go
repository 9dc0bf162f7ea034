package workspace

import (
	"os"
	"path/filepath"

	"github.com/ralph-compiler/ralph/internal/regular"

	"github.com/ralph-compiler/ralph/executor"
)

// Undone says of each of some changes whether it is as it was again, as far as that
// can be told. It reads files only, and notes nothing.
func (s Checkout) Undone(list []executor.Drift) []bool {
	out := make([]bool, len(list))
	if len(list) == 0 {
		return out
	}
	w, _ := s.Watch(nil).(*watch)
	w.last = w.settings()
	w.last.Refs = w.refs()
	for i, c := range list {
		switch c.What {
		case theCheckout:
			out[i] = w.asBefore(c.Files)
		case theHead:
			head, at := w.head()
			out[i] = (&checkout{Head: head, At: at}).words() == c.Was
		case stashRef:
			out[i] = stashWords(w.stashes()) == c.Was
		default:
			out[i] = w.valueOf(c) == c.Was
		}
	}
	return out
}

// asBefore reports whether files hold what they held.
func (w *watch) asBefore(files map[string]string) bool {
	for name, content := range files {
		full := filepath.Join(w.s.top, filepath.FromSlash(name))
		b, err := regular.ReadMax(full, maxContent)
		switch {
		case err == nil && w.content(b) == content:
		case content == "" && os.IsNotExist(err):
		default:
			return false
		}
	}
	return files != nil
}
