package dot

import (
	"strings"
	"testing"
)

func TestWordsAreWrapped(t *testing.T) {
	for _, c := range []struct {
		text         string
		width, lines int
		want         string
	}{
		{"", 10, 2, ""},
		{"one two", 7, 2, "one two"},
		{"one two", 6, 2, "one|two"},
		{"one  two\nthree", 20, 2, "one two three"},
		{"one two three", 5, 2, "one|two…"},
		{"one two three", 5, 3, "one|two|three"},
		{"abcdefgh", 8, 2, "abcdefgh"},
		{"abcdefghi", 8, 2, "abcdefgh|i"},
		{"a bcdefghij", 4, 9, "a|bcde|fghi|j"},
		{"世界世界", 4, 2, "世界|世界"}, // two columns each
		{"世界", 1, 2, "世|界"},
	} {
		if got := strings.Join(wrap(c.text, c.width, c.lines), "|"); got != c.want {
			t.Errorf("wrap(%q, %d, %d) is %q, want %q", c.text, c.width, c.lines, got, c.want)
		}
	}
}
