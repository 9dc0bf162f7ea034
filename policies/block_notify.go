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
	On      Value[[]string]          `hcl:"on="`
	Run     Value[[]string]          `hcl:"run=" is:"argv" with:"required" doc:"the program and its arguments"` // argv
	Env     Value[map[string]string] `hcl:"env" doc:"variables that the program gets, as { NAME = \"value\" }"`
	Secrets Value[[]string]          `hcl:"secrets" ref:"secret" doc:"the secrets that the program gets, such as [secret.CHAT_HOOK]"`
}

var notifyBlock = &block{
	of:   (*Notify)(nil),
	name: "notify", many: true,
	doc: "runs a command on events",
	attrs: []attr{
		{name: "on", kind: kEnums, enum: NotifyEvents, required: true, doc: "events, such as [\"node.blocked\", \"run.done\"]"},
	},
}

func (n *Notify) check(r *reader) {
	r.plainCommands("run", n.Run)
	r.checkEnv("env", n.Env)
}
