package diag

// gsdCodes declares the codes about GSD's .planning (owner: ir/codec/gsd).
var gsdCodes = rows{
	{"gsd-front-matter", Error, "The front matter of a GSD plan cannot be read"},
	{"gsd-kept-as-text", Warning | strict, "A key of a GSD plan is not valid YAML and is kept as text"},
	{"gsd-id", Error, "A GSD plan has no number"},
	{"gsd-no-plan", Error, "There is no GSD plan to import"},
	{"gsd-element", Error, "An element of a GSD plan is not closed"},
	{"gsd-wave", Warning | strict, "Wave and dependencies of a GSD plan contradict each other"},
	{"gsd-outside", Note, "A GSD plan depends on work that is not among the files"},
	{"gsd-prose", Note, "A GSD dependency is free text"},
	{"gsd-done", Warning, "A GSD plan is open although its phase is finished"},
	{"gsd-person", Note, "A GSD plan needs a person"},
	{"gsd-unplanned", Warning, "Work of GSD's roadmap has no plan file yet"},
}
