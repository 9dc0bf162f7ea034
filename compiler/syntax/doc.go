// Package syntax reads the markdown of a plan into a tree with byte ranges.
//
// In: a diag.File and a Dialect (plain data: how items and groups are written).
// Out: a *Plan, always, and a diag.List. Nothing here knows a policy, the IR or
// the disk; which ids exist, what a number means and which form a value must have
// is decided by package compiler, the only caller besides app.
//
// It is the only user of goldmark, which finds the block structure; the table
// extension and all inline parsing stay off. It also imports internal/yaml (front
// matter) and internal/spell (near words).
//
// How a plan is read, one file each:
//
//	limits.go       what is refused before parsing
//	frontmatter.go  YAML between --- lines: found, read, cut off
//	chunk.go        the text is cut where a heading is certain to begin a section
//	block.go        goldmark reads each piece; only byte ranges are kept
//	strip.go        markup is removed from a line, every remaining byte keeps its place (inline.go)
//	pattern.go      keywords and ids of a dialect
//	title.go        headings: marks, id, title, kind; title_end.go: status
//	candidate.go    what looks like an item or a group in a dialect
//	classify.go     which of these are items, groups, prose, and why
//	build.go        phases, items and the bounds of their sections
//	section.go      labels, lists, fences and prose of each section
//	lazy.go         labels directly below the lines of a list
//	label.go        **Label**: value; lines.go: text as prompts get it; comment.go: annotations, directives
//	finished.go     what the plan marks as finished
//	table.go        tables of items and of dependencies
//	numbering.go    ids in one form
//	hints.go        what was not read, and why
//
// Rules of the language are in docs/plan-language.md.
package syntax
