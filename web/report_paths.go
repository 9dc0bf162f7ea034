package web

import (
	"encoding/json"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/regular"
)

// homes are the homes of people, whoever they are.
var homes = lazyregexp.New(`(?:/home|/Users|[A-Za-z]:\\+Users)[/\\]+[^\s/\\"'<>:;,)\]]+`)

// shorter makes paths of this machine begin at the repository, or at ~.
func shorter(r record.Repository) func(string) string {
	type rule struct{ root, put string }
	var rules []rule
	add := func(root, put string) {
		for _, root := range []string{root, regular.Resolved(root)} {
			for _, root := range []string{root, (&url.URL{Path: root}).EscapedPath()} {
				if len(root) > 1 && !slices.Contains(rules, rule{root, put}) {
					rules = append(rules, rule{root, put})
				}
			}
		}
	}
	add(r.Git, ".git")
	add(r.Dir, ".")
	add(filepath.Dir(r.Dir), "..") // worktrees
	if home, err := os.UserHomeDir(); err == nil {
		add(home, "~")
	}
	if u, err := user.Current(); err == nil {
		add(u.HomeDir, "~")
	}
	add("/root", "~")
	add(os.TempDir(), "$TMPDIR")
	return func(s string) string {
		if !strings.ContainsAny(s, `/\`) {
			return s
		}
		for _, x := range rules {
			s = cutRoot(s, x.root, x.put)
		}
		return homes.ReplaceAllString(s, "~")
	}
}

// cutRoot puts something else in the place of a directory's path, where that is all of a name.
func cutRoot(s, root, put string) string {
	var out strings.Builder
	for rest := s; ; {
		i := strings.Index(rest, root)
		if i < 0 {
			if out.Len() == 0 {
				return s
			}
			out.WriteString(rest)
			return out.String()
		}
		end := i + len(root)
		out.WriteString(rest[:i])
		if midName(rest[:i]) || end < len(rest) && inName(rest[end]) {
			out.WriteString(root)
		} else {
			out.WriteString(put)
		}
		rest = rest[end:]
	}
}

// escape is the end of a text in which JSON, or code, escapes the character before a path.
var escape = lazyregexp.New(`\\(?:[a-z]|u[0-9a-fA-F]{4})$`)

// midName reports whether what follows a text goes on with its last name.
func midName(before string) bool {
	return before != "" && inName(before[len(before)-1]) && !escape.MatchString(before[max(len(before)-6, 0):])
}

// inName reports whether a byte beside a path belongs to it.
func inName(c byte) bool {
	return c == '_' || c == '-' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}

// inJSON changes the strings of compact JSON that are values: names of fields stay.
func inJSON(b []byte, change func(string) string) []byte {
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); {
		if b[i] != '"' {
			out = append(out, b[i])
			i++
			continue
		}
		end := i + 1
		for ; end < len(b) && b[end] != '"'; end++ {
			if b[end] == '\\' {
				end++
			}
		}
		end = min(end+1, len(b))
		literal := b[i:end]
		i = end
		var s string
		if end < len(b) && b[end] == ':' || json.Unmarshal(literal, &s) != nil {
			out = append(out, literal...)
			continue
		}
		if said := change(s); said != s {
			literal = mustJSON(said)
		}
		out = append(out, literal...)
	}
	return out
}
