package syntax

// exampleIDs returns n ids that a pattern lets through; none if it knows none. Patterns
// are for those who write dialects: a message shows what people write.
func exampleIDs(pattern Pattern, n int) (out []string) {
	switch pattern.ID {
	case sprintID:
		return []string{"1.2", "3a.2b"}[:n]
	case phaseID:
		return []string{"3", "3a"}[:n]
	}
	m := newMatcher(pattern)
	tried := []string{"1.1", "1.2", "1", "2", "T001", "T002", "P1.1", "P1.2", "A-1", "A-2", "#1", "#2", "A", "B", "A1", "A2"}
	if len(pattern.Keywords) > 0 { // "Task 1"
		tried = append([]string{"1", "2"}, tried...)
	}
	for _, id := range tried {
		if k := m.match(id); len(out) < n && k.look == goodID && k.n == len(id) {
			out = append(out, id)
		}
	}
	if len(out) < n {
		return nil
	}
	return out
}
