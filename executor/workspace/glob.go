package workspace

import (
	"regexp"
	"strings"
)

// globs returns a matcher for paths with forward slashes: "*" and "?" stay
// within a directory, "**" does not, "[a-z]" and "{a,b}" are alternatives, and a
// pattern that names a directory matches all below it. A pattern that is none
// matches only itself.
func globs(patterns []string) func(path string) bool {
	var res []*regexp.Regexp
	for _, p := range patterns {
		p = strings.TrimSuffix(strings.TrimPrefix(p, "./"), "/")
		re, err := regexp.Compile("^(?:" + translate(p) + ")(?:/.*)?$")
		if err != nil {
			re = regexp.MustCompile("^" + regexp.QuoteMeta(p) + "(?:/.*)?$")
		}
		res = append(res, re)
	}
	return func(path string) bool {
		for _, re := range res {
			if re.MatchString(path) {
				return true
			}
		}
		return false
	}
}

func translate(p string) string {
	var b strings.Builder
	depth := 0
	for i := 0; i < len(p); i++ {
		switch c := p[i]; {
		case strings.HasPrefix(p[i:], "**/"):
			b.WriteString("(?:.*/)?")
			i += 2
		case strings.HasPrefix(p[i:], "**"):
			b.WriteString(".*")
			i++
		case c == '*':
			b.WriteString("[^/]*")
		case c == '?':
			b.WriteString("[^/]")
		case c == '[':
			end := strings.IndexByte(p[i+1:], ']')
			if end < 1 {
				b.WriteString(`\[`)
				continue
			}
			class := strings.ReplaceAll(p[i+1:i+1+end], `\`, `\\`)
			if class[0] == '!' {
				class = "^" + class[1:]
			}
			b.WriteString("[" + class + "]")
			i += end + 1
		case c == '{':
			depth++
			b.WriteString("(?:")
		case c == '}' && depth > 0:
			depth--
			b.WriteString(")")
		case c == ',' && depth > 0:
			b.WriteString("|")
		default:
			b.WriteString(regexp.QuoteMeta(p[i : i+1]))
		}
	}
	return b.String()
}
