package executor

// byFile and byTool are the end of every prompt: how an outcome is reported. Programs
// that are agents get a tool for it; a command gets a file.
var byFile = []string{
	"When you are done, write a JSON object to the file that RALPH_OUTCOME names:",
	"",
	`    {"result": "success", "summary": "what you did, in a few sentences"}`,
	"",
	`"result" is "success", "partial" or "failed". With "partial" you are asked again to go on.`,
	`Add "next_action": "need_human" and ask in "summary" if only a person can decide.`,
	"Your word starts the gates; it does not replace them.",
}

var byTool = []string{
	"When you are done, call the tool report_outcome, as the last thing that you do:",
	"",
	`    {"result": "success", "summary": "what you did, in a few sentences"}`,
	"",
	`"result" is "success", "partial" or "failed". With "partial" you are asked again to go on.`,
	`Add "next_action": "need_human" and ask in "summary" if only a person can decide.`,
	"If there is no such tool, end your last message with this JSON object in a ```json fence.",
	"Your word starts the gates; it does not replace them.",
	"",
	"The tool get_context tells you the task, what it builds on, and the feedback once more.",
	"Work that you find and that is not part of the task: do not do it, call propose_work.",
}
