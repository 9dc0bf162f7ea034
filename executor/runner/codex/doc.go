// Package codex runs Codex CLI as an agent: `codex exec --json`, a process for each
// turn.
//
// In: an executor.AgentRun. Out: how the turn ended and what was reported. It
// imports executor, executor/runner, ir and internal/process; app makes the
// Runner.
//
// The user's Codex configuration applies (login, providers, ~/.codex/AGENTS.md, hooks,
// rules, whether the sandbox has a network), except where it would break a turn of
// ralph:
//
//   - The prompt comes from a file on stdin, after the agent's text. A prompt of more
//     than 1 MiB, which Codex refuses, is cut and says where the rest is.
//   - The user's other MCP servers are off. There is no option for that, so Codex is
//     asked for their names (`codex mcp list --json`), and each is disabled; plugins and
//     apps, which bring more, are features that are switched off.
//   - ralph's own server is required (a dead one ends the program at once) and its
//     calls are approved beforehand. Its token is in Codex' environment only: programs
//     run by tools do not see it. (The user's shell_environment_policy.exclude is
//     overridden for that; the runner's env keeps variables from an agent.)
//   - The worktree is untrusted, whatever the user's settings for the repository: an
//     earlier agent may have written .codex/config.toml, hooks, rules or agents there.
//     Codex then omits AGENTS.md, too; the agent of a step is told to read it, a judge
//     is not. Skills in .agents/ are offered to the agents of steps, not to judges.
//   - The sandbox is workspace-write without approval prompts: what is not allowed
//     fails, and the turn continues. Writable are the worktree, the directories of
//     temporary files, and for the agent of a step the attempt's files. A read-only
//     agent has the same sandbox, since tests write, and ralph undoes its changes.
//     Tools have no network, which is Codex' default; to allow it:
//     run = ["codex", "-c", "sandbox_workspace_write.network_access=true"]. `git commit`
//     does not work in a worktree; ralph commits.
//   - Of two Codex that start at the same moment in one home, one may lose the links by
//     which its sandbox is called: all of its tools fail, and it goes on. It is ended and
//     started anew (links.go).
//   - Endless waiting for a network is off (unbounded_connection_retries); a version
//     without that switch, or one that waits for a rate limit, is ended after Patience.
//     A model that never answers ends with stall or the step's time; Codex' own limit
//     is five minutes, six times. Retry limits cannot be set for OpenAI itself.
//   - In ralph's sandbox Codex' own is off, and its shell is no login shell: PATH is that of
//     the agent.
//   - Every turn has its own TMPDIR, removed afterwards; Codex' analytics, which delay
//     its exit, are off.
//
// A slug names a profile, a file NAME.config.toml in Codex' home directory.
//
// A turn has succeeded if turn.completed arrived and no error followed the last sign
// of work, whatever the exit code. Failures are classified by their text, which is all
// that Codex gives: see classify. A request that Codex did not retry was refused by the
// model: a configuration failure. Codex counts tokens over the whole thread, and in a
// copy includes the original's; the runner subtracts.
//
// Not done: a person who writes in the session is not noticed; an agent's background
// terminal counts as a running tool, so that a turn with one ends by its time and not
// by a stall; Codex may not know a thread later whose first turn was killed at once
// (a session failure: a fresh one).
package codex
