package policies

// Events that notify {} may name.
const (
	OnWaiting = "node.waiting" // for a person, or for a budget
	OnBlocked = "node.blocked"
	OnDone    = "node.done"
	OnHeld    = "run.held"     // nothing new starts: paused, the budget is used up, or the base is red
	OnRed     = "base.red"     // a gate is red on the base before any work
	OnTamper  = "run.tampered" // others changed settings, hooks or refs
	OnEnded   = "run.done"     // whatever came of it: RALPH_EXIT says
)

// NotifyEvents are all of them.
var NotifyEvents = []string{OnWaiting, OnBlocked, OnDone, OnHeld, OnRed, OnTamper, OnEnded}

// Notify is the block `notify {}`.
type Notify struct {
	Decl
	On      Value[[]string]
	Run     Value[[]string] // argv
	Env     Value[map[string]string]
	Secrets Value[[]string]
}

var notifyBlock = &block{
	name: "notify", many: true,
	doc: "runs a command on events",
	attrs: []attr{
		{name: "on", kind: kEnums, enum: NotifyEvents, required: true, doc: "events, such as [\"node.blocked\", \"run.done\"]"},
		{name: "run", kind: kArgv, required: true, doc: "the program and its arguments"},
		{name: "env", kind: kMap, doc: "variables that the program gets, as { NAME = \"value\" }"},
		{name: "secrets", kind: kRefs, ref: "secret", doc: "the secrets that the program gets, such as [secret.CHAT_HOOK]"},
	},
}

func (r *reader) notify(decl Decl) *Notify {
	n := &Notify{
		Decl: decl, On: or(r.enums("on"), []string{}), Run: or(r.plainCommands("run", r.argv("run")), []string{}),
		Env: r.object("env"), Secrets: r.refs("secrets"),
	}
	r.checkEnv("env", n.Env)
	return n
}
