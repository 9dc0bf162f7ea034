package diag

// gsdCodes declares the codes about GSD's .planning (owner: ir/codec/gsd).
var gsdCodes = []Entry{
	{
		Code: "gsd-front-matter", Severity: Error, About: "bead",
		Title: "The front matter of a GSD plan cannot be read",
	},
	{
		Code: "gsd-kept-as-text", Severity: Warning, Strict: true, About: "bead",
		Title: "A key of a GSD plan is no YAML and is kept as text",
	},
	{
		Code: "gsd-id", Severity: Error, About: "bead",
		Title: "A GSD plan has no number",
	},
	{
		Code: "gsd-no-plan", Severity: Error, About: "bead",
		Title: "There is no GSD plan to import",
	},
	{
		Code: "gsd-element", Severity: Error, About: "bead",
		Title: "An element of a GSD plan is not closed",
	},
	{
		Code: "gsd-wave", Severity: Warning, Strict: true, About: "bead",
		Title: "Wave and dependencies of a GSD plan contradict each other",
	},
	{
		Code: "gsd-outside", Severity: Note, About: "bead",
		Title: "A GSD plan depends on work that is not among the files",
	},
	{
		Code: "gsd-prose", Severity: Note, About: "bead",
		Title: "A dependency of GSD's is text",
	},
	{
		Code: "gsd-done", Severity: Warning, About: "bead",
		Title: "A GSD plan is open although its phase is finished",
	},
	{
		Code: "gsd-person", Severity: Note, About: "bead",
		Title: "A GSD plan needs a person",
	},
	{
		Code: "gsd-unplanned", Severity: Warning, About: "bead",
		Title: "Work of GSD's roadmap has no plan file yet",
	},
}
