package sandboxtest

import (
	"strings"
	"testing"
)

func TestTheTableHasAllAttacks(t *testing.T) {
	want := map[byte]int{'C': 2, 'D': 4, 'I': 4, 'K': 13, 'N': 11, 'P': 11, 'R': 22, 'W': 36, 'X': 11, 'Z': 1}
	got := map[byte]int{}
	table := Attacks()
	for _, a := range table {
		got[a.ID[0]]++
	}
	for c, n := range want {
		if got[c] != n {
			t.Errorf("%d attacks begin with %c, want %d", got[c], c, n)
		}
	}
	if len(table) != 115 {
		t.Errorf("%d attacks, want 115", len(table))
	}
}

func TestTablesThatAreWrong(t *testing.T) {
	const head = "id|none|walled|control|attack\n"
	for text, want := range map[string]string{
		"id|none|attack":                              "want id, levels, control, attack",
		head + "A1|X|-||a\nA1|X|-||b":                 "A1 is there twice",
		head + "A1|X|-|a":                             "4 cells, want 5",
		head + "A1|X||| a":                            "A1 says nothing about walled",
		head + "A1|EPERM|-||a":                        "blocked without a sandbox and names no control",
		head + "A1|X|-|luck|a":                        `no control is called "luck"`,
		head + "|X|-||a":                              "has an id",
		"id|walled|control|attack\nA1|X||a":           "names no control",
		"# a comment\n\n" + head + "A1|X|-|unproved|": "says what it does",
	} {
		if _, err := parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestWhatTheTableDoesNotAllowIsWrong(t *testing.T) {
	table, err := parse("id|none|walled|control|attack\nA1|X|-||a\nA2|X/EPERM|EROFS/own||b\nA3|EPERM|X|unproved|c\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, level string
		results     []Result
		wrong       string // in all lines; "" is none
		silent      string
	}{
		{"as the table says", "none", []Result{{"A1", true, ""}, {"A2", true, ""}, {"A3", false, "EPERM"}}, "", ""},
		{"the machine blocks one itself", "none", []Result{{"A1", true, ""}, {"A2", false, "EPERM"}, {"A3", false, "EPERM"}}, "", "A2"},
		{"one does not work any more", "none", []Result{{"A1", false, "ENOENT"}, {"A2", true, ""}, {"A3", false, "EPERM"}}, "A1 (a): ENOENT, want success", ""},
		{"one is blocked in another way", "walled", []Result{{"A1", false, "EIO"}, {"A2", false, "ENOENT"}, {"A3", true, ""}}, "A2 (b): ENOENT, want EROFS/own", ""},
		{"one got through", "walled", []Result{{"A1", true, "all of it"}, {"A2", false, "own"}, {"A3", true, ""}}, "A1 (a): success all of it, want blocked", ""},
		{"one did not run", "walled", []Result{{"A2", false, "own"}, {"A3", true, ""}}, "A1 (a): no result", ""},
		{"one is not in the table", "walled", []Result{{"A1", false, "EIO"}, {"A2", false, "own"}, {"A3", true, ""}, {"A4", false, ""}}, "A4: a result that the table does not expect", ""},
		{"a level that nobody knows", "moat", nil, `the table has no level "moat"`, ""},
	} {
		wrong, silent := table.Wrong(c.level, c.results)
		if got := strings.Join(wrong, "\n"); got != c.wrong {
			t.Errorf("%s: got %q, want %q", c.name, got, c.wrong)
		}
		if got := strings.Join(silent, " "); got != c.silent {
			t.Errorf("%s: silent %q, want %q", c.name, got, c.silent)
		}
	}
}
