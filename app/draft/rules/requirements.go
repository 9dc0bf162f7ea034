package rules

import (
	"slices"
	"strings"
	"unicode"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/lists"
)

// requirements reports those that no sprint implements.
func (k *checking) requirements() {
	if len(k.asked) == 0 && len(k.held) == 0 {
		return
	}
	done, title := map[string]bool{}, k.title()
	for i := range k.Epic.Nodes {
		for _, entry := range k.Epic.Nodes[i].Implements {
			for _, w := range idWords(entry) {
				done[w], done[whole(w)] = true, true
			}
		}
	}
	var spoken map[string]bool
	if len(k.Errors) > 0 { // perhaps it is where an error is
		spoken = spokenOf(string(k.File.Bytes))
	}
	report := func(ids []string, why string) {
		for _, id := range ids {
			if key := keyOf(id); !done[key] && !spoken[key] {
				k.diags.Add(diag.Newf("draft-requirement-missing", title, "no sprint implements %s", id).
					WithDetail(why+" Write **Implements**: %s into the sprint that does it, or add that sprint.", id, id))
			}
		}
	}
	report(k.asked, "What was asked for states %s.")
	report(k.held, "The plan implemented %s, and nobody asks to drop it.")
}

// demanded are the requirements that a changed plan has to implement. Those that it did
// before are held, unless the wish speaks of one: it may drop it. Those of the wish that
// are new to the plan and to what it was first written for are added.
func demanded(implemented []string, brief, wish string) (held, added []string) {
	told, had := spokenOf(wish), map[string]bool{}
	for _, entry := range implemented {
		for _, id := range idsOf(entry) {
			if key := keyOf(id); !had[key] {
				if had[key] = true; !told[key] {
					held = append(held, id)
				}
			}
		}
	}
	stated := Requirements(brief)
	return held, lists.Keep(Requirements(wish), func(id string) bool { return !had[keyOf(id)] && !slices.Contains(stated, id) })
}

var (
	writtenID = lazyregexp.New(`^[A-Z][A-Z0-9-]*[0-9][A-Z0-9.-]*$`)
	number    = lazyregexp.New(`^[0-9]{1,4}(?:\.[0-9]{1,4})*$`)

	// Where numbers are those of requirements: after one of these words, or as the name
	// of a point.
	ofRequirements = lazyregexp.New(`(?i)\b(?:implements|requirements?|reqs?|validates)\b(.*)|^[ \t]*[-*+][ \t]+([` + "`" + `\[]*[0-9][0-9.]*)`)
)

// idsOf are the ids in what is under Implements, in the form in which a brief states
// them: REQ-001, and "Requirement 3" for 3, 3.1 and Requirement 3.
func idsOf(entry string) (out []string) {
	first := true
	for _, w := range strings.FieldsFunc(entry, betweenIDs) {
		w = strings.Trim(w, ".")
		switch {
		case writtenID.MatchString(w):
			out = append(out, w)
		case first && number.MatchString(w):
			out = append(out, "Requirement "+whole(w))
		}
		first = first && strings.HasPrefix(strings.ToLower(w), "requirement")
	}
	return out
}

// spokenOf are the ids that a text may speak of, by their keys.
func spokenOf(text string) map[string]bool {
	out := map[string]bool{}
	for line := range strings.Lines(text) {
		for _, w := range idWords(line) {
			if !number.MatchString(w) {
				out[w], out[whole(w)] = true, true
			}
		}
		if m := ofRequirements.FindStringSubmatch(strings.TrimRight(line, "\r\n")); m != nil {
			for _, w := range idWords(m[1] + " " + m[2]) {
				out[whole(w)] = true
			}
		}
	}
	return out
}

// keyOf is an id as it is compared.
func keyOf(id string) string { return strings.ToUpper(strings.TrimPrefix(id, "Requirement ")) }

// whole is the requirement of which an id names a point: 3 of 3.1.
func whole(id string) string {
	first, _, _ := strings.Cut(id, ".")
	return first
}

// idWords are the words of a text as ids are compared.
func idWords(text string) []string {
	all := strings.FieldsFunc(strings.ToUpper(text), betweenIDs)
	for i, w := range all {
		all[i] = strings.Trim(w, ".")
	}
	return all
}

// A word ends at whatever no id has in it.
func betweenIDs(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '.'
}
