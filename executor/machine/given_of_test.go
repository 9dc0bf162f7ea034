package machine

import "testing"

// What a person handed in stays theirs in the attempts that build on it, in this life of the
// node. Each attempt is its commit, the one that it began with, and whose it is.
func TestWhatLiesBelowAnAttempt(t *testing.T) { // execution §5
	log := func(commit, from, person string) AttemptLog {
		return AttemptLog{Commit: commit, From: from, Person: person}
	}
	for name, c := range map[string]struct {
		logs  []AttemptLog
		first int
		from  string
		want  string
	}{
		"nobody's":                 {[]AttemptLog{log("c1", "base", "")}, 0, "c1", ""},
		"a person's":               {[]AttemptLog{log("c1", "base", "ann")}, 0, "c1", "c1"},
		"below an agent's":         {[]AttemptLog{log("c1", "base", "ann"), log("c2", "c1", "")}, 0, "c2", "c1"},
		"below a failed one":       {[]AttemptLog{log("c1", "base", "ann"), log("", "c1", "")}, 0, "c1", "c1"},
		"the newest":               {[]AttemptLog{log("c1", "base", "ann"), log("c2", "c1", "bob")}, 0, "c2", "c2"},
		"beside what is built on":  {[]AttemptLog{log("c1", "base", "ann"), log("c2", "base", "")}, 0, "c2", ""},
		"of what was thrown away":  {[]AttemptLog{log("c1", "base", "ann"), log("c2", "c1", "")}, 0, "base", ""},
		"of a life before":         {[]AttemptLog{log("c1", "base", "ann"), log("c2", "c1", "")}, 1, "c2", ""},
		"of this life, the first":  {[]AttemptLog{log("c1", "base", ""), log("c2", "c1", "ann")}, 1, "c2", "c2"},
		"there is none":            {nil, 0, "base", ""},
		"none, and from no commit": {[]AttemptLog{log("", "", "ann")}, 0, "", ""},
	} {
		n := &node{logs: c.logs}
		n.life.first, n.life.attempt.from = c.first, c.from
		if got := n.given(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
