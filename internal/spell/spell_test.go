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

func TestOneEdit(t *testing.T) {
	for name, c := range map[string]struct {
		a, b string
		want bool
	}{
		"inserted":                       {"aprroval", "aproval", true},
		"deleted":                        {"aproval", "approval", true},
		"replaced":                       {"approvel", "approval", true},
		"neighbours swapped":             {"apporval", "approval", true},
		"at the first character":         {"bpproval", "approval", true},
		"at the last one":                {"approva", "approval", true},
		"of several bytes":               {"vérify", "verify", true},
		"a run of equal letters":         {"blockks", "blocks", true},
		"equal words":                    {"gate", "gate", false},
		"two edits":                      {"aproved", "approval", false},
		"letters swapped across a third": {"gtae", "egat", false},
		"nothing and a letter":           {"", "a", true},
		"nothing and nothing":            {"", "", false},
	} {
		if got := OneEdit(c.a, c.b); got != c.want || OneEdit(c.b, c.a) != got {
			t.Errorf("%s: OneEdit(%q, %q) = %v; want %v, both ways", name, c.a, c.b, got, c.want)
		}
	}
}
