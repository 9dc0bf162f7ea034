package text

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestHead(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"abc", 3, "abc"},
		{"abcd", 3, "abc"},
		{"aü", 2, "a"},
		{"aü", 3, "aü"},
		{"日本", 5, "日"},
		{"日本", 2, ""},
		{"abc", 0, ""},
		{"abc", -1, ""},
		{"", 0, ""},
		{strings.Repeat("\x80", 9), 6, strings.Repeat("\x80", 6)}, // no text has that
	} {
		if got := Head(c.in, c.n); got != c.want {
			t.Errorf("Head(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
		if got := Head([]byte(c.in), c.n); string(got) != c.want {
			t.Errorf("Head of bytes(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
}

func TestTail(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"abc", 3, "abc"},
		{"abcd", 3, "bcd"},
		{"üa", 2, "a"},
		{"日本", 5, "本"},
		{"abc", 0, ""},
		{"", 4, ""},
		{strings.Repeat("\x80", 9), 6, strings.Repeat("\x80", 6)},
	} {
		if got := Tail(c.in, c.n); got != c.want {
			t.Errorf("Tail(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
}

func TestClip(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"abcdef", 6, "abcdef"},
		{"abcdefg", 6, "abc…"},
		{"abüdefg", 6, "ab…"},
		{"ab defg", 6, "ab …"},
		{"abcdefg", 1, "…"},
	} {
		if got := Clip(c.in, c.n); got != c.want {
			t.Errorf("Clip(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
}

func TestShortenAndTitle(t *testing.T) {
	for _, c := range []struct {
		in    string
		n     int
		want  string
		title string
	}{
		{"üüüü", 4, "üüüü", "üüüü"},
		{"üüüüü", 4, "üüü…", "üüü…"},
		{"ab cde", 4, "ab …", "ab…"},
		{"abc", 1, "…", "…"},
		{"a", 1, "a", "a"},
		{"", 0, "", ""},
	} {
		got, title := Shorten(c.in, c.n), Title(c.in, c.n)
		if got != c.want || title != c.title {
			t.Errorf("%q to %d: shortened %q, as a title %q, want %q, %q", c.in, c.n, got, title, c.want, c.title)
		}
	}
}

// TestWhatIsShortenedFits: no result is longer than what is asked for, and whole
// characters stay whole.
func TestWhatIsShortenedFits(t *testing.T) {
	const s = "a ü 日本 \U0001F600 end"
	for n := 3; n < len(s)+2; n++ {
		for what, got := range map[string]string{"Head": Head(s, n), "Tail": Tail(s, n), "Clip": Clip(s, n)} {
			if len(got) > n || !utf8.ValidString(got) {
				t.Errorf("%s(%q, %d) = %q", what, s, n, got)
			}
		}
		if got := Shorten(s, n); utf8.RuneCountInString(got) > n || !utf8.ValidString(got) {
			t.Errorf("Shorten(%q, %d) = %q", s, n, got)
		}
	}
}

func TestLines(t *testing.T) {
	for _, c := range []struct{ in, one, first, last string }{
		{"", "", "", ""},
		{" \n\t", "", "", ""},
		{"\n a  b \n c\t\n\n", "a b c", "a  b", "c"},
		{"a\r\nb\r\n", "a b", "a", "b"},
	} {
		if one, first, last := OneLine(c.in), FirstLine(c.in), LastLine(c.in); one != c.one || first != c.first || last != c.last {
			t.Errorf("%q: on one line %q, first %q, last %q, want %q, %q, %q", c.in, one, first, last, c.one, c.first, c.last)
		}
	}
}

func TestFileName(t *testing.T) {
	for in, want := range map[string]string{
		"go-test_1.x": "go-test_1.x",
		"a/b\\c d":    "a-b-c-d",
		"größe":       "gr--e",
		"":            "",
		"a\x00b":      "a-b",
	} {
		if got := FileName(in); got != want {
			t.Errorf("FileName(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Count(0, "item"), "0 items"},
		{Count(1, "item"), "1 item"},
		{Count(3, "dependency"), "3 dependencies"},
		{Count(2, "key"), "2 keys"},
		{Count(2, "check box"), "2 check boxes"},
		{Count(2, "branch"), "2 branches"},
		{Counted(1, "box has", "boxes have"), "1 box has"},
		{Counted(2, "box has", "boxes have"), "2 boxes have"},
		{Form(1, "it", "them"), "it"},
		{Form(0, "it", "them"), "them"},
		{Plural(""), ""},
		{Plural("pass"), "passes"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestLists(t *testing.T) {
	words := []string{"a", "b", "c"}
	for n, want := range []struct{ and, or, some string }{
		{"", "", ""},
		{"a", "a", "a"},
		{"a and b", "a or b", "a, b"},
		{"a, b and c", "a, b or c", "a, b and 1 more"},
	} {
		of := slices.Clone(words[:n])
		if and, or, some := And(of), Or(of), Some(of, 2); and != want.and || or != want.or || some != want.some {
			t.Errorf("%v: %q, %q, %q, want %q, %q, %q", of, and, or, some, want.and, want.or, want.some)
		}
		if !slices.Equal(of, words[:n]) {
			t.Errorf("the words were changed: %v", of)
		}
	}
}
