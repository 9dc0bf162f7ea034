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

func TestNearestID(t *testing.T) {
	for name, c := range map[string]struct {
		word  string
		known []string
		want  string // "": none
	}{
		"another number":                      {"1.9", []string{"1.1", "1.2"}, ""},
		"another number of one digit":         {"7", []string{"1", "2"}, ""},
		"another letter alone":                {"b", []string{"a"}, ""},
		"another number with a prefix":        {"FE-14", []string{"FE-12", "FE-13"}, ""},
		"a digit twice":                       {"1.11", []string{"1.1", "1.2"}, "1.1"},
		"a digit once too rarely":             {"1.1", []string{"1.11", "1.2"}, "1.11"},
		"digits that changed places":          {"FE-21", []string{"FE-12", "FE-13"}, "FE-12"},
		"another case":                        {"fe-12", []string{"FE-12", "FE-13"}, "FE-12"},
		"a letter too few":                    {"F-12", []string{"FE-12", "FE-13"}, "FE-12"},
		"another letter in a word":            {"setup-dp", []string{"setup-db"}, "setup-db"},
		"a prefix too few":                    {"api", []string{"build-api", "docs"}, "build-api"},
		"a prefix too few before a number":    {"12", []string{"TASK-12", "TASK-13"}, "TASK-12"},
		"a prefix too many":                   {"task-12", []string{"12", "13"}, "12"},
		"a prefix too few, of several":        {"12", []string{"FEAT-12", "BACK-12"}, ""},
		"a prefix with a number is no prefix": {"1", []string{"20.1", "2"}, ""},
		"the end of a word is no prefix":      {"pi", []string{"tapi"}, ""},
	} {
		if got, ok := NearestID(c.word, c.known); got != c.want && ok || ok != (c.want != "") {
			t.Errorf("%s: NearestID(%q, %q) = %q, %v; want %q", name, c.word, c.known, got, ok, c.want)
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
