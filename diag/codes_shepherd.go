package diag

// shepherdCodes declares the codes about Agent Shepherd's YAML (owner: policies/shepherd).
var shepherdCodes = []Entry{
	{
		Code: "shepherd-yaml", Severity: Error, About: "shepherd",
		Title: "A file of Agent Shepherd is no YAML",
		Why:   "The file cannot be read, so nothing of it can be converted. The message shows where its cause most probably is, and what to write there. The other files are checked in the same run.",
		Wrong: "description: Test: run it", Right: `description: "Test: run it"`,
	},
	{
		Code: "shepherd-value", Severity: Error, About: "shepherd",
		Title: "A value of Agent Shepherd's YAML is not what its key asks for",
		Why:   "The message names the value by its path and says what it has to be. A name that nothing has (a default policy, an agent, a phase that another one depends on) is one of these mistakes, and so is a key that stands twice.",
		Wrong: "timeout_multiplier: fast", Right: "timeout_multiplier: 2.0",
	},
	{
		Code: "shepherd-changed", Severity: Warning, About: "shepherd",
		Title: "What was converted means something else",
		Why:   "ralph has no word that means exactly the same, so it took the one that is nearest. The comment beside it in the result says what was there. Read it before you rely on it.",
		Wrong: "session_strategy: reuse", Right: `session = "resume"`,
	},
	{
		Code: "shepherd-approver", Severity: Warning, About: "shepherd",
		Title: "Nobody is named who approves",
		Why:   "Agent Shepherd takes the approval of anybody who can set a label. ralph asks who may approve, and takes nobody else's word. The result names somebody, so that it compiles: write the right names.",
		Wrong: "require_approval: true", Right: `hitl { approvers = ["ada", "bob"] }`,
	},
	{
		Code: "shepherd-left-out", Severity: Note, About: "shepherd",
		Title: "Keys that have no counterpart in a policy",
		Why:   "They stand as comments in the result, each with the reason, so that nothing is lost without a word.",
	},
	{
		Code: "shepherd-unknown-key", Severity: Note, Strict: true, About: "shepherd",
		Title: "Keys that Agent Shepherd does not have",
		Why:   "They stand as comments in the result and do nothing. A misspelt key would do nothing either, which is why they are named.",
		Wrong: "timeout_multiplyer: 2.0", Right: "timeout_multiplier: 2.0",
	},
}
