// Package acp runs any program that speaks the Agent Client Protocol (version 1,
// JSON-RPC in lines over stdin and stdout) as an agent.
//
// In: an executor.AgentRun whose runner names the program, such as
// run = ["opencode", "acp"]. Out: how the turn ended, see package runner. It
// imports executor, executor/runner, ir, internal/process and, alone in the module,
// the protocol's SDK, github.com/coder/acp-go-sdk; app makes it.
//
// # A turn
//
// One process is one turn: it is started in the worktree, initialized, asked to create
// or resume a session, given the agent's model and the prompt, and ended when it
// answers with the stop reason of the turn. That answer is final, never an exit code:
// a program that ends without it crashed.
//
// The program decides what the protocol leaves open: whether a session can be resumed
// (session/resume, else session/load) or copied (session/fork), and whether MCP
// servers are reached over HTTP. If it cannot resume sessions, no handle is recorded;
// if it cannot copy them, or no longer knows a session, the turn fails as
// executor.FailSession. The outcome server is passed in session/new; to a program
// without MCP over HTTP its proxy over stdio. The user's other MCP servers stay on:
// the protocol cannot turn them off. Neither files nor terminals are offered to the
// program: it uses its own.
//
// Permission requests are answered at once: yes, this once; or no for edits of a
// read-only agent. Requests for what ralph does not offer are refused, so that no turn
// waits for an absent person.
//
// The model is chosen by the session's options, or session/set_model; if the runner's
// run = […] names ${run.model}, the program gets it there. A slug is the session's
// mode of that name.
//
// A turn is cancelled by session/cancel, then the end of its input, SIGTERM and
// SIGKILL; its child processes are killed with it.
//
// # Gaps in the protocol
//
// The protocol has no word for a rate limit or for a retry. Errors are classified by
// their code, by an HTTP status in them, and by their words; a program that retries by
// itself is silent meanwhile, and stalls. limited_when is searched for in its stderr
// and in the error.
//
// Tokens are those of the answer to the prompt, if they can be the whole turn's
// (OpenCode reports only the last request's); the cost is the session's, less its
// cost before the turn.
//
// # Programs
//
// opencode acp (1.18) supports all of that, except for what Describe says: a refused
// edit ends its turn, unless its configuration sets
// experimental.continue_loop_on_deny. It asks before edits only if configured:
// env = ["OPENCODE_PERMISSION={\"edit\":\"ask\"}"]. In a session that was begun in another
// directory (ralph ask --in-session) it asks, too, before its shell reads a file outside,
// and the answer does not reach it: the question ends by its time (--timeout).
//
// The SDK is used for the connection and for sending. Received messages are read
// leniently here, and updates never reach the SDK: it gives up on a program whose
// updates are more than 1024 ahead of their reader, on lines of more than 10 MiB, and
// on unknown kinds.
package acp
