package syntax

// nastyHeadings lists plans in which headings decide about each other: seeds of FuzzParse.
func nastyHeadings() []string {
	return []string{
		"# Phase 1\n## Sprint 1.1\n# Notes", "# Sprint 1\n## Sprint 2",
	}
}
