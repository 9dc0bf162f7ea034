package depend

// markedKeys says which signs, that are markup elsewhere, are in keys of the
// plan: "#12", "setup_db".
type markedKeys struct{ hash, underscore bool }

func (m *markedKeys) see(key string) {
	for i := range len(key) {
		m.hash = m.hash || i == 0 && key[i] == '#'
		m.underscore = m.underscore || key[i] == '_'
	}
}

// begins reports whether a text begins with a sign that is part of a key: "#12 Notes".
func (m markedKeys) begins(s string) bool { return m.hash && len(s) > 1 && s[0] == '#' && digit(s[1]) }

// mask is mask but for the signs that are parts of keys where they are.
func (m markedKeys) mask(s string) string {
	masked := mask(s)
	if !m.hash && !m.underscore || len(masked) != len(s) {
		return masked
	}
	b := []byte(masked)
	for i := range len(s) - 1 {
		before := i > 0 && (digit(b[i-1]) || letter(b[i-1]) || b[i-1] == '_')
		after := digit(b[i+1]) || letter(b[i+1]) || s[i+1] == '_'
		switch {
		case s[i] == '#' && m.hash && !before && digit(b[i+1]),
			s[i] == '_' && m.underscore && before && after:
			b[i] = s[i]
		}
	}
	return string(b)
}
