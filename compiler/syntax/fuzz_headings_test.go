package syntax

// nastyHeadings lists plans in which headings decide about each other: seeds of FuzzParse.
func nastyHeadings() []string {
	return []string{
		"# Phase 1\n## Sprint 1.1\n# Notes", "# Sprint 1\n## Sprint 2",
		"### Phase 1\n**Status**: done\n```hcl ralph\n```\n## Phase 1\n**Status**: open\n### Sprint 1.1\n#### Phase 1\n**Depends on**: none", "## Week 1 ✅\n### 1.1 a\n#### Week 1\n## Weeks 2-3\n### 2.1 b\n# Week 1\n",
		"### Sprint 1.2 ✅\n**Depends on**: 1.1\n- [ ] a\n#### Sprint 1.2a\n##### Sprint 1.2ab\n#### Sprint 1.2b\n### Sprint 1.2\n", "## Task 1\n### Task 1a\n# Task 1\n",
		"### Sprint 1.1, 1.2 & 1.3-1.5: a", "## Phases 1–3\n### Sprint 2.1\n### Sprint 3.1-3.2", "### Task 1-2\n### Task 1-3\n### Task 4-6\n### Task 9-9-9", "## Sprint 1\n## Sprint 2\n## Sprint 1.5\n### Sprint 2.1",
		"### Sprint 2.1\n## Phase 1\n### Sprint 1.1\n## Later\n### Sprint 2.2\n## Phase 2\n### Sprint 2.3", "## Phase 1\n### Sprint 1.1\n## ~~Phase 2~~\n### Sprint 2.1\n## Log\n### Sprint 1.1\n### Sprint 9.9\n",
	}
}
