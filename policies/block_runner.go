package policies

// Runner is the block `runner "n"`: what executes an agent.
type Runner struct {
	Decl
	Kind        Value[string]   // command, claude, opencode, codex, acp
	Run         Value[[]string] // argv; may hold ${run.…}
	Prompt      Value[string]   // stdin, file, arg
	Env         Value[[]string] // names let through; the kind's default list if not Set
	Assign      Value[map[string]string]
	Secrets     Value[[]string]
	Outcome     Value[string] // optional, required
	Concurrent  Value[int]    // 0: no limit
	RPM         Value[int]    // 0: no limit
	LimitedWhen *LimitedWhen  // nil: never
}

// LimitedWhen recognises a rate limit in what a program printed.
type LimitedWhen struct {
	ExitCode Value[int]
	Output   Value[string] // regular expression (RE2), optional group "until"
}

// Secret is the block `secret "N"`.
type Secret struct {
	Decl
	Env Value[string] // the variable it is read from when running; its own name if not Set
}
