package diag

// gsdCodes declares the codes about GSD's .planning (owner: ir/codec/gsd).
var gsdCodes = []Entry{
	{
		Code: "gsd-front-matter", Severity: Error, About: "bead",
		Title: "The front matter of a GSD plan cannot be read",
		Why:   "`phase`, `plan`, `wave` and `depends_on` say what runs when, so nothing is guessed where they are no YAML or hold something else than a number or a list.",
		Wrong: "depends_on: [01-01", Right: `depends_on: ["01-01"]`,
	},
	{
		Code: "gsd-kept-as-text", Severity: Warning, Strict: true, About: "bead",
		Title: "A key of a GSD plan is no YAML and is kept as text",
		Why:   "Values that begin with a quote and go on behind it, or hold a colon, are no YAML. Each key is read by itself, so the others count; this one is told to the agent as it stands, and makes no acceptance criteria.",
		Wrong: "must_haves:\n  truths:\n    - \"GET /x\" answers 200", Right: "must_haves:\n  truths:\n    - \"GET /x answers 200\"",
	},
	{
		Code: "gsd-id", Severity: Error, About: "bead",
		Title: "A GSD plan has no number",
		Why:   "A plan is known by the numbers of its phase and of itself: dependencies, the roadmap and SUMMARY.md name it by them. The file's name counts first, then its front matter, then its directory.",
		Wrong: ".planning/notes/login-PLAN.md", Right: ".planning/phases/03-login/03-01-PLAN.md",
	},
	{
		Code: "gsd-no-plan", Severity: Error, About: "bead",
		Title: "There is no GSD plan to import",
		Why:   "The files are the roadmap or summaries only. A roadmap by itself compiles as an ordinary plan, a sprint for each phase: `ralph compile .planning/ROADMAP.md --dialect phase`.",
	},
	{
		Code: "gsd-element", Severity: Error, About: "bead",
		Title: "An element of a GSD plan is not closed",
		Why:   "Without the closing tag it cannot be told what belongs to the element, so tasks or checks might be lost. Write the closing tag behind its content.",
		Wrong: "<task type=\"auto\">\n  <name>Task 1: Log in</name>", Right: "<task type=\"auto\">\n  <name>Task 1: Log in</name>\n</task>",
	},
	{
		Code: "gsd-wave", Severity: Warning, Strict: true, About: "bead",
		Title: "Wave and dependencies of a GSD plan contradict each other",
		Why:   "GSD carries out wave after wave. A plan whose dependency has the same wave or a later one would start before it there. `depends_on` counts here.",
		Wrong: "wave: 1\ndepends_on: [\"02-01\"]", Right: "wave: 2\ndepends_on: [\"02-01\"]",
	},
	{
		Code: "gsd-outside", Severity: Note, About: "bead",
		Title: "A GSD plan depends on work that is not among the files",
		Why:   "Phases of earlier milestones are put away when they are shipped, and a phase can be imported alone. What such a dependency names is taken to be in the base already.",
	},
	{
		Code: "gsd-prose", Severity: Note, About: "bead",
		Title: "A dependency of GSD's is text",
		Why:   "It names neither a plan nor a phase, so it makes no edge. Write the number of a plan or of a phase if something has to come first.",
		Wrong: "depends_on: [database is up]", Right: `depends_on: ["02-01"]`,
	},
	{
		Code: "gsd-done", Severity: Warning, About: "bead",
		Title: "A GSD plan is open although its phase is finished",
		Why:   "The roadmap says that the phase is finished, so none of its plans runs again. This one has neither a SUMMARY.md nor a ticked box. If it is left to do, open the phase in the roadmap again.",
	},
	{
		Code: "gsd-person", Severity: Note, About: "bead",
		Title: "A GSD plan needs a person",
		Why:   "A checkpoint where somebody looks at the result becomes a manual sprint behind that of the plan; a decision is a question that the agent asks; a plan that only a person can do is a manual sprint. What `user_setup` lists has to be there before the work can be tried.",
	},
	{
		Code: "gsd-unplanned", Severity: Warning, About: "bead",
		Title: "Work of GSD's roadmap has no plan file yet",
		Why:   "GSD plans one phase after the other. What stands in the roadmap only has no tasks and no checks, so it is not in the epic. Plan it, and import again: what is done stays done.",
	},
}
