// Package opencode runs agents in sessions of OpenCode, over the API of its server.
//
// In: an executor.AgentRun. Out: how the turn ended, what it cost, what the agent
// reported or said last. It imports executor, executor/runner, ir, internal/process
// and internal/atomicfile; app makes a Runner and closes it at the end.
//
// # Servers
//
// One `opencode serve` on loopback, with a random password, serves all turns of a
// ralph process that share environment and secrets: normally there is one. It is
// started with the first turn, and again if it died; Close ends it and leaves
// nothing. Its directory (temporary files, output, how a person attaches) is below
// AgentRun.Keep. Its RALPH_OUTCOME is a path there, so that after a kill of ralph the
// next one finds and kills the server. A server that has worked in many directories
// is replaced, since it does not release its resources.
//
// The environment of a shared server cannot hold variables that differ between turns.
// So a turn's RALPH_ variables reach its agent's shells through a shell of ralph's own
// in front of the real one, which checks in which worktree it is; local MCP servers,
// plugins and language servers do not get them. The same shell removes the server's
// password and configuration. That is a guard rail, as agents run as the same user.
//
// The configuration is the user's own (their HOME, login, agents), overlaid with: no
// updates, no sharing, no snapshots, no questions, and all MCP servers off. Their
// names come from OpenCode for the first directory; a server that was started without
// knowing one of them is replaced before it starts any. The project's opencode.json
// and .opencode are ignored: they may be an earlier agent's work; what OpenCode would
// still run from them is refused. The project's AGENTS.md is given with the message,
// but not to judges, who also have no tool that shows them more of the kind (read) and
// no skills of other programs.
//
// # In a sandbox
//
// A turn in a sandbox has a server of its own there, which ends with it: HOME, and so
// OpenCode's database, is the agent's on that node. ralph connects to it through the
// sandbox (process.Inside). The server is not kept for the next turn of the same node and
// agent: nothing outlives a turn is what a sandbox promises, and a server that stays is a
// process of the agent's that is at work while gates judge, ralph commits and the next
// prompt is made, with the last turn's plugins loaded and its mounts and list of hosts. What
// that costs is its start: some two seconds of a turn (1.5 to 2.7 in a new home, measured on
// two busy cores, and half a second for the first answer), as much as without a sandbox.
//
// A person's client runs in a sandbox of their own (`ralph enter`). While the turn is at
// work, a relay leads there from a port of this machine: an HTTP proxy with a password that
// is known to no one inside, as the server's is. Messages in the session prove nothing, as
// the agent can write them; who writes through the relay is a person. With pause the turn is
// theirs until they leave, and ends then. Their client reads no settings of the agent's
// (clientAlone); what it runs of the agent's all the same, such as a planted program that is
// found before opencode, can speak as a person while one is there.
//
// The agent commands such a server: its answers, events and redirects are bounded, as is
// what a turn keeps of what it names (bounds.go).
//
// # Turns
//
// A session belongs to a directory, and is created, resumed or forked for each turn
// with rules under which it never waits for an answer. Questions are refused all the
// same. A message is sent to an idle session only, and carries a mark in its text's
// metadata; the event stream says when to look, and the list of messages says how the
// turn ended, since the stream repeats nothing after a cut. A nonexistent model or
// agent shows in the stream only. OpenCode retries by itself when a model fails: see
// Runner.Patience and Runner.Tries.
//
// A message without the mark is a person's (without a sandbox). From then on the turn is not judged and
// its clocks are stopped until the person is done (see executor.EndTakenOver). What
// they write in an OpenCode of their own, instead of one attached to this server, is
// seen only when the turn ends.
//
// OpenCode's structured output is never used: it makes the list of messages
// unreadable. Neither is its second API below /api.
package opencode
