package diag

// draftCodes are about plans that are drafted: they compile, and more is asked of them.
var draftCodes = []Entry{
	{
		Code: "draft-no-acceptance", Severity: Error, About: "draft",
		Title: "A sprint of a drafted plan has no acceptance criteria",
		Why:   "Who reads the plan, who does the sprint and who judges it go by the same list. Without one, nobody can say whether the work is what was asked for. Only a plan that `ralph draft` has written is held to this.",
		Wrong: "### Sprint 1.1: Greeting\n\n**Verify**: `make test`",
		Right: "### Sprint 1.1: Greeting\n\n**Acceptance Criteria**:\n- `GET /hello?name=Ada` answers `Hello, Ada!`\n\n**Verify**: `make test`",
	},
	{
		Code: "draft-no-judge", Severity: Error, About: "draft",
		Title: "Nothing judges a sprint of a drafted plan",
		Why:   "What an agent says about its own work is no judgement. A sprint needs a command, an agent or a person that judges it: of the plan, or of the policy. Only a plan that `ralph draft` has written is held to this.",
		Wrong: "### Sprint 1.1: Greeting\n\n**Acceptance Criteria**:\n- `GET /hello` answers 200",
		Right: "### Sprint 1.1: Greeting\n\n**Acceptance Criteria**:\n- `GET /hello` answers 200\n\n**Verify**: `go test ./web`",
	},
	{
		Code: "draft-no-plan", Severity: Error, About: "draft",
		Title: "The planner left no plan",
		Why:   "A draft is one file, the one that the prompt names: it has to be there when the planner ends, as a file and no link.",
		Wrong: "plan.md",
		Right: "plans/search.md",
	},
	{
		Code: "draft-policies", Severity: Error, About: "draft",
		Title: "A drafted plan chooses its policy itself",
		Why:   "`policies` in the front matter of a plan replaces the policy of the project: its gates, its approvals, its limits. Who writes a plan for others does not choose what the plan is held to. In a plan that `ralph draft --revise` has changed it stays as it was. Only a plan that `ralph draft` has written is held to this.",
		Wrong: "---\npolicies: [examples/lax.hcl]\n---\n# Search",
		Right: "# Search",
	},
	{
		Code: "draft-scope-missing", Severity: Error, About: "draft",
		Title: "A path in a drafted plan is not there",
		Why:   "A sprint may change only what it owns, so a misspelt path blocks it when it runs. A path or glob below Owns and Files fits something in the project, or something that a sprint makes: `(new)` behind a path says so, for all sprints of the plan. Only a plan that `ralph draft` has written is held to this.",
		Wrong: "**Owns**: `intrenal/search/**`, `web/search.go`",
		Right: "**Owns**: `internal/search/**`, `web/search.go` (new)",
	},
	{
		Code: "draft-sprint-too-large", Severity: Error, About: "draft",
		Title: "A sprint of a drafted plan is too large",
		Why:   "One agent does a sprint in one sitting, and it is judged as a whole. `draft { max_sprint { … } }` in the policy says how many tasks and paths it may have, and how long its Estimate may be. Only a plan that `ralph draft` has written is held to this.",
		Wrong: "**Estimate**: 3d",
		Right: "**Estimate**: 6h",
	},
	{
		Code: "draft-requirement-missing", Severity: Error, About: "draft",
		Title: "A drafted plan leaves out a requirement",
		Why:   "The text that the plan was asked for states requirements by ids (REQ-001, FR-12 anywhere; R1.2, US-4 at the beginning of a line; Requirement 3 in a heading, of which 3.1 is a point). Each of them stands below Implements of at least one sprint, so that nothing is forgotten and everybody sees what does it. What a plan implemented stays so when `ralph draft --revise` changes it, unless what is asked for speaks of it.",
		Wrong: "### Sprint 1.1: Search",
		Right: "### Sprint 1.1: Search\n\n**Implements**: REQ-001",
	},
	{
		Code: "draft-id-lost", Severity: Error, About: "draft",
		Title: "A sprint of a changed plan has lost its id",
		Why:   "What was done for a sprint is found by its id: attempts, results, decisions. In a plan that `ralph draft --revise` has changed, a sprint that keeps its number or its title keeps the comment below its heading, and the plan keeps its own. A sprint that is another one has a number and a title that none had.",
		Wrong: "### Sprint 1.1: Index",
		Right: "### Sprint 1.1: Index\n<!-- beads-ralph: bd-a1b2c3 -->",
	},
	{
		Code: "draft-id-reused", Severity: Error, About: "draft",
		Title: "A drafted plan has an id that is not its own",
		Why:   "With the id of another sprint it would take over what became of that one, and with an invented one perhaps that of a sprint which was deleted; with the id of another plan it would take over that plan's run. In a plan that `ralph draft --revise` has changed, an id stays with its sprint. A new sprint has none, and neither has a new plan: ralph gives them theirs when the plan is approved.",
		Wrong: "### Sprint 1.3: Ranking\n<!-- beads-ralph: bd-new001 -->",
		Right: "### Sprint 1.3: Ranking",
	},
	{
		Code: "draft-done-changed", Severity: Error, About: "draft",
		Title: "A changed plan touches a sprint that is done",
		Why:   "What is finished was judged and is part of the work that follows. A plan that `ralph draft --revise` has changed has each finished sprint, and none of them would run again: not by its own text, and not by what it needs. What is to be different now belongs into a new sprint.",
		Wrong: "### Sprint 1.1: Index, with ranking\n<!-- beads-ralph: bd-a1b2c3 -->",
		Right: "### Sprint 1.1: Index\n<!-- beads-ralph: bd-a1b2c3 -->\n\n### Sprint 1.4: Ranking",
	},
}
