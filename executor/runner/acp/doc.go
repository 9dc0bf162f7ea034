// Package acp runs any program that speaks the Agent Client Protocol (version 1,
// JSON-RPC in lines over stdin and stdout) as an agent.
//
// In: an executor.AgentRun whose runner names the program, such as
// run = ["opencode", "acp"]. Out: how the turn ended, see package runner. It
// imports executor, executor/runner, ir, internal/process and the SDK of the
// protocol, github.com/coder/acp-go-sdk, which nobody else imports; app makes
// it.
//
// # A turn
//
// One process is one turn: it is started in the worktree, greeted, told to make a
// session or to go on with one, given the model that the agent is to have and the
// prompt, and ended when it answers why the turn stopped. That answer is the final
// word, never an exit code: a program that ends without it crashed.
//
// What the protocol leaves to the program, the program decides: whether a session
// can be gone on with (session/resume, else session/load) or copied (session/fork),
// and whether MCP servers are reached over HTTP. One that cannot go on with
// sessions gets no handle on record; one that cannot copy them fails as
// executor.FailSession, as does a session that it does not know any more. The
// outcome server is passed in session/new; where a program takes none over HTTP,
// its proxy over stdio is. Other MCP servers of the user stay on: the protocol
// cannot turn them off. Neither files nor terminals are offered to the program: it
// uses its own.
//
// Requests for permission are answered at once: yes, this once; or no for edits of
// an agent that only reads. What is asked that ralph does not offer is refused, so
// that no turn waits for a person who is not there.
//
// The model is chosen by the session's options, or session/set_model; where the
// run = […] of the runner names ${run.model}, the program gets it there. A slug is
// the session's mode of that name.
//
// A turn is cancelled by session/cancel, then the end of its input, SIGTERM and
// SIGKILL; what it started is killed with it.
//
// # What is not said
//
// The protocol has no word for a rate limit or for a try that is repeated. Errors
// are told apart by their code, by an HTTP status in them, and by their words; a
// program that tries again by itself is silent meanwhile, and stalls. limited_when
// is looked for in what it prints to stderr, and in the error.
//
// Tokens are those of the answer to the prompt, if they can be the whole turn's
// (OpenCode tells only the last request's); the cost is that of the session, less
// what it was before.
//
// # Programs
//
// opencode acp (1.18) works in all of that, but for what Describe says: a refused
// edit ends its turn, unless its configuration says
// experimental.continue_loop_on_deny. It asks before it edits only if it is told
// so: env = ["OPENCODE_PERMISSION={\"edit\":\"ask\"}"].
//
// The SDK is used for the connection and for what is sent. What is received is read
// leniently here, and updates never reach it: it gives up on a program that says
// more than 1024 updates ahead of their reader, on lines of more than 10 MiB, and on
// kinds that it does not know.
package acp
