package ir

import "strings"

// BadBranch says why git check-ref-format would refuse a branch name; "" if the name is
// valid.
func BadBranch(name string) string {
	switch {
	case name == "":
		return "is empty"
	case len(name) > 200:
		return "is longer than 200 bytes"
	case name == "@" || name == "HEAD":
		return "is a name that git uses itself"
	case strings.HasPrefix(name, "-"):
		return "begins with \"-\""
	case strings.HasPrefix(name, "/") || strings.HasSuffix(name, "/") || strings.Contains(name, "//"):
		return "has an empty part between slashes"
	case strings.HasSuffix(name, "."):
		return "ends with \".\""
	case strings.Contains(name, ".."):
		return "contains \"..\""
	case strings.Contains(name, "@{"):
		return "contains \"@{\""
	case strings.HasPrefix(name, "refs/"):
		return "begins with \"refs/\", which is not part of a branch's name"
	}
	for part := range strings.SplitSeq(name, "/") {
		if strings.HasPrefix(part, ".") {
			return "has a part that begins with \".\""
		}
		if strings.HasSuffix(part, ".lock") {
			return "has a part that ends with \".lock\""
		}
	}
	for _, r := range name {
		if r <= ' ' || r == 0x7f {
			return "contains a space or a control character"
		}
		if strings.ContainsRune("~^:?*[\\", r) {
			return "contains \"" + string(r) + "\""
		}
		if r >= 0x80 && r <= 0x9f {
			return "contains a control character"
		}
		if r == '{' || r == '}' {
			return "contains a placeholder that is not known"
		}
		if r == 0xFFFD {
			return "is not valid UTF-8"
		}
	}
	return ""
}
