package policies

// Notify is the block `notify {}`.
type Notify struct {
	Decl
	On  Value[[]string]
	Run Value[[]string] // argv
}

var notifyBlock = &block{
	name: "notify", many: true,
	doc: "runs a command on events",
	attrs: []attr{
		{name: "on", kind: kStrings, required: true, doc: "events, such as [\"node.blocked\", \"run.done\"]"},
		{name: "run", kind: kArgv, required: true, doc: "the program and its arguments"},
	},
}

func (r *reader) notify(decl Decl) *Notify {
	return &Notify{Decl: decl, On: or(r.strs("on"), []string{}), Run: or(r.argv("run"), []string{})}
}
