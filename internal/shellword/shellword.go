// Package shellword writes words of commands that people paste into a shell.
package shellword

import "strings"

// Quote returns text as one word of a POSIX shell, quoted where the shell would read
// it as anything else.
func Quote(text string) string {
	if text != "" && text[0] != '=' && Plain(text) { // zsh expands =WORD
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// Path returns the path of a file as one word that no program takes for a flag, and
// git for no pathspec magic.
func Path(file string) string {
	if strings.HasPrefix(file, "-") || strings.HasPrefix(file, ":") {
		file = "./" + file
	}
	return Quote(file)
}

// Plain reports whether a POSIX shell reads text as itself, within quotes and without: at
// most one word.
func Plain(text string) bool { return strings.IndexFunc(text, special) < 0 }

func special(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./@%+=:,", r))
}
