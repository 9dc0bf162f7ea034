package record

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
)

// secretName matches the names of variables that hold secrets.
var secretName = lazyregexp.New(`(?i)(^|_)(api_?key|apikey|key|token|secret|passwd|password|passphrase|credentials?|pat|dsn)(_|$)`)

// notSecret are variables whose names match although they hold no secret.
var notSecret = lazyregexp.New(`(?i)_(file|path|dir|id|name|url|host|sock|type|count)$`)

// SecretValues are the values that must not be stored or printed, by name: those of the
// epic's secret blocks, and of every variable, in ralph's environment or set by the
// policy, whose name looks like a secret's.
func SecretValues(epic *ir.Epic, environ []string) map[string]string {
	out := map[string]string{}
	like := func(name, value string) {
		if secretName.MatchString(name) && !notSecret.MatchString(name) && len(value) >= 8 {
			out[name] = value
		}
	}
	have := map[string]string{}
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		have[name] = value
		like(name, value)
	}
	set := []map[string]string{epic.Run.Worktree.Env}
	for _, r := range epic.Runners {
		set = append(set, r.Set)
	}
	for _, g := range epic.Gates {
		set = append(set, g.Env)
	}
	set = append(set, lists.Map(epic.Run.Notify, func(n ir.Notify) map[string]string { return n.Env })...)
	for _, m := range set {
		for name, value := range m {
			if !strings.Contains(value, "${") {
				like(name, value)
			}
		}
	}
	declared := map[string]string{}
	for name, s := range epic.Secrets {
		if v := have[s.Env]; v != "" {
			declared[name] = v
			delete(out, s.Env)
		}
	}
	maps.Copy(out, declared)
	return out
}

// ownWords are what agents, gates and events say of themselves: without them nothing can
// be read back.
var ownWords = strings.Fields(`success partial failed passed stopped skipped blocked cancelled waiting running pending
	result summary errors status message reason verdict outcome advance_phase repeat_phase need_human needs_human
	next_action suggested_next created_issues`)

// Redactable selects the secret values that can be redacted from stored data; left names
// the others.
func Redactable(values map[string]string) (out map[string]string, left []string) {
	out = maps.Clone(values)
	for name, v := range values {
		if slices.Contains(ownWords, strings.TrimSpace(v)) {
			delete(out, name)
			left = append(left, name)
		}
	}
	return out, left
}

// ordinary is a value that files hold by chance: words, perhaps with a number after
// them (postgres, localhost:5432), or numbers alone.
var ordinary = lazyregexp.New(`^(?:\pL+(?:[-_.:@ ]\pL+)*[-_.:@!]?\d{0,5}|[\d.:]+)$`)

// aPath is the path of a file or directory: many files name it.
var aPath = lazyregexp.New(`^(?:~|\.{1,2})?(?:/[A-Z]?[a-z0-9._-]+){2,}/?$`)

// Unmistakable keeps the secret values that no file holds by chance: the epic's own,
// unless they are ordinary and shorter than 20 bytes, or a path, and of others the long
// ones and those unlike any word. Doubtful names the epic's own that are left out.
func Unmistakable(epic *ir.Epic, values map[string]string) (out map[string]string, doubtful []string) {
	out = map[string]string{}
	for name, v := range values {
		_, declared := epic.Secrets[name]
		random := strings.ContainsAny(v, "0123456789") && strings.ContainsFunc(v, unicode.IsLetter)
		switch {
		case aPath.MatchString(strings.TrimSpace(v)):
			if declared {
				doubtful = append(doubtful, name)
			}
		case len(v) >= 20, declared && !ordinary.MatchString(strings.TrimSpace(v)), !declared && len(v) >= 10 && random:
			out[name] = v
		case declared:
			doubtful = append(doubtful, name)
		}
	}
	slices.Sort(doubtful)
	return out, doubtful
}
