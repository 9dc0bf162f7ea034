package diag

// draftCodes are about plans that are drafted: they compile, and more is asked of them.
var draftCodes = []Entry{
	{
		Code: "draft-no-acceptance", Severity: Error, About: "draft",
		Title: "A sprint of a drafted plan has no acceptance criteria",
	},
	{
		Code: "draft-no-judge", Severity: Error, About: "draft",
		Title: "Nothing judges a sprint of a drafted plan",
	},
	{
		Code: "draft-no-plan", Severity: Error, About: "draft",
		Title: "The planner left no plan",
	},
	{
		Code: "draft-policies", Severity: Error, About: "draft",
		Title: "A drafted plan chooses its policy itself",
	},
	{
		Code: "draft-scope-missing", Severity: Error, About: "draft",
		Title: "A path in a drafted plan is not there",
	},
	{
		Code: "draft-sprint-too-large", Severity: Error, About: "draft",
		Title: "A sprint of a drafted plan is too large",
	},
	{
		Code: "draft-requirement-missing", Severity: Error, About: "draft",
		Title: "A drafted plan leaves out a requirement",
	},
	{
		Code: "draft-id-lost", Severity: Error, About: "draft",
		Title: "A sprint of a changed plan has lost its id",
	},
	{
		Code: "draft-id-reused", Severity: Error, About: "draft",
		Title: "A drafted plan has an id that is not its own",
	},
	{
		Code: "draft-done-changed", Severity: Error, About: "draft",
		Title: "A changed plan touches a sprint that is done",
	},
}
