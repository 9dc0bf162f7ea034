package lines

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestLinesAreTheSameHoweverTheyCome(t *testing.T) {
	const text = "one\n\ntwo and more\r\n" + "123456789012345678901234567890\n" + "the last"
	want := []string{"one", "", "two and more\r", "12345678901234567890 …", "the last"}
	for size := 1; size <= len(text); size++ {
		var got []string
		c := Cutter{Max: 20, Each: func(line []byte, cut bool) error {
			s := string(line)
			if cut {
				s += " …"
			}
			got = append(got, s)
			return nil
		}}
		for at := 0; at < len(text); at += size {
			if n, err := c.Write([]byte(text[at:min(at+size, len(text))])); err != nil || n != min(size, len(text)-at) {
				t.Fatal(n, err)
			}
		}
		if err := errors.Join(c.Close(), c.Close()); err != nil || !slices.Equal(got, want) {
			t.Errorf("in pieces of %d bytes: %q, want %q (%v)", size, got, want, err)
		}
	}
}

func TestAnErrorEndsTheWriting(t *testing.T) {
	stop, n := errors.New("enough"), 0
	c := Cutter{Max: 10, Each: func([]byte, bool) error {
		if n++; n == 2 {
			return stop
		}
		return nil
	}}
	if wrote, err := fmt.Fprint(&c, "a\nbc\nd\n"); wrote != len("a\nbc\n") || !errors.Is(err, stop) || n != 2 {
		t.Errorf("%d bytes, %d lines, %v", wrote, n, err)
	}
}

func TestMemoryOfALineIsBounded(t *testing.T) {
	c := Cutter{Max: 1 << 10, Each: func([]byte, bool) error { return nil }}
	for range 1000 {
		_, _ = fmt.Fprint(&c, strings.Repeat("x", 1<<10)) // Each fails never
	}
	if cap(c.rest) > 8<<10 {
		t.Errorf("%d bytes are held", cap(c.rest))
	}
}
