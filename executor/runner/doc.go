// Package runner is what all runners share: a turn's files, its program's
// environment, the clocks that end it, the record of its stream, and how its outcome
// is found.
//
// A runner of an agent program begins a Turn, starts its program under the turn's
// Context, reports to the turn what it hears (Heard, Say, Tool, Spent, Session,
// Person), and returns what Turn.End makes of the program's end:
//
//	t, err := b.Begin(ctx, r)
//	…
//	res, err := process.Run(t.Context(), spec)   // Tap → parse → t.Heard, t.Say, …
//	return t.End(runner.End{Final: sawResult, Answer: lastMessage, Err: failure, Code: res.Code})
//
// The context ends when the caller's does, when the step's time is over, or when
// the agent counts as stalled because it gave no sign of life for too long; a running
// tool is a sign of life, the program's heartbeat is not. End knows which of them it
// was: a runner needs no clock of its own.
//
// A turn's files are in the attempt's directory: NAME.prompt.md,
// NAME.feedback.md, NAME.outcome.json (what the agent reported), NAME.out (what a
// person reads: text, tools, results), NAME.err (what the program printed to
// stderr) and NAME.stream.jsonl (what the program streamed, each with the time of
// its receipt: {"at":"…","line":…}).
package runner
