package gate

import "strings"

// bare reports whether each place of a mark in a line of shell is one where quotes can be
// put around it. What is not understood (here-documents, commands within quotes) does not count.
func bare(line, mark string) bool {
	quote := byte(0)
	for i := 0; i < len(line); i++ {
		rest := line[i:]
		switch c := line[i]; {
		case strings.HasPrefix(rest, "$"+mark): // text
			i += len(mark)
		case strings.HasPrefix(rest, mark):
			if quote != 0 {
				return false
			}
		case !strings.Contains(rest, mark):
			return true
		case quote == '\'':
			if c == '\'' {
				quote = 0
			}
		case c == '\\':
			if i++; strings.HasPrefix(line[i:], mark) || quote == 0 && line[i+1] == '#' { // it would escape the quote; no comment begins there
				return false
			}
		case quote == '"' && (strings.HasPrefix(rest, "$(") || strings.HasPrefix(rest, "${") && !strings.HasPrefix(rest, "${run.")),
			c == '`', quote == 0 && (strings.HasPrefix(rest, "<<") || strings.HasPrefix(rest, "$'") || strings.HasPrefix(rest, "${") && !strings.HasPrefix(rest, "${run.")):
			return false
		case c == '"' && quote == '"':
			quote = 0
		case c == '"' || c == '\'':
			if quote == 0 {
				quote = c
			}
		case c == '#' && quote == 0 && (i == 0 || strings.IndexByte(" \t\n;&|()", line[i-1]) >= 0):
			end := strings.IndexByte(rest, '\n')
			if end < 0 || strings.Contains(rest[:end], mark) {
				return false
			}
			i += end
		}
	}
	return true
}
