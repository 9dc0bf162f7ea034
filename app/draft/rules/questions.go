package rules

import "strings"

// Questions returns the open questions of a plan: the list below its heading "Open
// questions".
func Questions(plan string) []string {
	var out []string
	within := 0 // the level of the heading that they are below
	for line := range strings.Lines(plain(plan)) {
		line = strings.TrimRight(line, "\n")
		text := strings.TrimSpace(line)
		if level := len(line) - len(strings.TrimLeft(line, "#")); level > 0 && level < 7 && strings.HasPrefix(line[level:], " ") {
			title := strings.ToLower(strings.Trim(line[level:], " #*:"))
			switch {
			case title == "open questions" || title == "open question":
				within = level
			case level <= within:
				within = 0
			}
			continue
		}
		if within == 0 || text == "" {
			continue
		}
		if item, ok := listItem(text); ok {
			out = append(out, item)
		} else if len(out) > 0 {
			out[len(out)-1] += " " + text
		} else {
			out = append(out, text)
		}
	}
	return out
}

// listItem returns the text after a bullet, a number or a checkbox.
func listItem(text string) (string, bool) {
	for _, bullet := range []string{"- ", "* ", "+ "} {
		if rest, ok := strings.CutPrefix(text, bullet); ok {
			for _, box := range []string{"[ ] ", "[x] "} {
				rest = strings.TrimPrefix(rest, box)
			}
			return strings.TrimSpace(rest), true
		}
	}
	number := strings.TrimLeft(text, "0123456789")
	if number != text && (strings.HasPrefix(number, ". ") || strings.HasPrefix(number, ") ")) {
		return strings.TrimSpace(number[2:]), true
	}
	return "", false
}
