package spell

import "testing"

func TestNearest(t *testing.T) {
	known := []string{"implement", "review", "plan", "plans", "test"}
	for name, c := range map[string]struct {
		word, want string
		ok         bool
	}{
		"one letter missing":              {"implemnt", "implement", true},
		"case does not count":             {"REVIEW", "review", true},
		"a tie goes to the smaller word":  {"planz", "plan", true},
		"a stranger has no near word":     {"kubernetes", "", false},
		"a short word needs a near match": {"tost", "test", true},
		"two letters that changed places": {"tset", "test", true},
		"two edits in a short word":       {"toast", "", false},
		"the empty word is near nothing":  {"", "", false},
	} {
		got, ok := Nearest(c.word, known)
		if ok != c.ok || ok && got != c.want {
			t.Errorf("%s: Nearest(%q) = %q, %v; want %q, %v", name, c.word, got, ok, c.want, c.ok)
		}
	}
}
