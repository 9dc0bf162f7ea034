package diag

// draftCodes are about plans that are drafted: they compile, and more is asked of them.
var draftCodes = rows{
	{"draft-no-acceptance", Error, "A sprint of a drafted plan has no acceptance criteria"},
	{"draft-no-judge", Error, "Nothing judges a sprint of a drafted plan"},
	{"draft-no-plan", Error, "The planner left no plan"},
	{"draft-policies", Error, "A drafted plan chooses its policy itself"},
	{"draft-scope-missing", Error, "A path in a drafted plan is not there"},
	{"draft-sprint-too-large", Error, "A sprint of a drafted plan is too large"},
	{"draft-requirement-missing", Error, "A drafted plan leaves out a requirement"},
	{"draft-id-lost", Error, "A sprint of a changed plan has lost its id"},
	{"draft-id-reused", Error, "A drafted plan has an id that is not its own"},
	{"draft-done-changed", Error, "A changed plan touches a sprint that is done"},
}
