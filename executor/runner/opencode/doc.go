// Package opencode runs agents in sessions of OpenCode, over the API of its server.
//
// In: an executor.AgentRun. Out: how the turn ended, what it cost, what the agent
// reported or said last. It imports executor, executor/runner, ir, internal/process
// and internal/atomicfile; app makes a Runner and closes it at the end.
//
// # Servers
//
// One `opencode serve` on loopback, with a random password, serves all turns of a
// ralph process whose environment and secrets are the same: normally one. It is
// started with the first turn, and again if it died; Close ends it and leaves
// nothing. Its directory (temporary files, output, how a person attaches) lies
// below AgentRun.Keep. It carries RALPH_OUTCOME with a path there, so that the next
// ralph finds and kills the server of one that was killed. A server that has worked
// in many directories is replaced, since it does not give back what it holds.
//
// A shared server cannot have variables that differ from turn to turn in its
// environment. So the RALPH_ variables of a turn reach the shells that its agent
// starts, by a shell of ralph's own in front of the real one, which looks in which
// worktree it is; local MCP servers, plugins and language servers do not get them.
// The same shell takes the server's password and configuration away. That is a
// guard rail, as agents run as the same user.
//
// The configuration is the user's own (their HOME, their login, their agents), with
// the following laid over it: no updates, no sharing, no snapshots, nothing that
// asks, and all MCP servers off. Which there are is what OpenCode says of the first
// directory; a server that was started without knowing of one is replaced before it
// starts any. The project's opencode.json and .opencode do not count: they may be an
// earlier agent's work; what OpenCode would run of them all the same is refused. Its
// AGENTS.md is given with the message, but not to judges, who also have no tool that
// shows them more of the kind (read) and no skills of other programs.
//
// # Turns
//
// A session belongs to a directory, and is made, resumed or forked for each turn
// with rules under which it never waits for an answer. Whoever asks all the same
// is refused. A message is sent to an idle session only, and carries a mark in the
// metadata of its text; the stream of events says when to look, and the list of
// messages says how the turn ended, since the stream repeats nothing after a cut. A
// model or an agent that does not exist shows in the stream alone. OpenCode tries
// again by itself when a model fails: see Runner.Patience and Runner.Tries.
//
// A message without the mark is a person's. From then on the turn is not judged and
// its clocks stand still, until the person is done (see executor.EndTakenOver). What
// they write in an OpenCode of their own, instead of one that is attached to this
// server, is seen only when the turn ends.
//
// OpenCode's structured output is never used: it makes the list of messages
// unreadable. Neither is its second API below /api.
package opencode
