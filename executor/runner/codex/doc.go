// Package codex runs Codex CLI as an agent: `codex exec --json`, a process for each
// turn.
//
// In: an executor.AgentRun. Out: how the turn ended and what was reported. It
// imports executor, executor/runner, ir and internal/process; app makes the
// Runner.
//
// What the user has said to Codex holds (login, providers, ~/.codex/AGENTS.md, hooks,
// rules, whether the sandbox has a network), except where a turn of ralph could not
// do with it:
//
//   - The prompt comes from a file on stdin, the agent's text before it. A prompt of
//     more than 1 MiB, which Codex refuses, is cut and says where the rest is.
//   - The user's other MCP servers are off. No option says that, so Codex is asked for
//     their names (`codex mcp list --json`), and each is disabled; plugins and apps,
//     which bring more, are features that are switched off.
//   - ralph's own server is required (a dead one ends the program at once) and its
//     calls are approved beforehand. Its token is in the environment of Codex alone:
//     what a tool runs does not see it. (shell_environment_policy.exclude of the user's
//     gives way to that; the runner's env is what keeps variables from an agent.)
//   - The worktree is untrusted, whatever the user says of the repository: an earlier
//     agent may have written .codex/config.toml, hooks, rules or agents there. Codex
//     then leaves AGENTS.md out, too; the agent of a step is told to read it, a judge
//     is not. Skills in .agents/ are offered to the agents of steps, not to judges.
//   - The sandbox is workspace-write and nobody is asked for approval: what is not
//     allowed fails, and the turn goes on. Writable are the worktree, the directories
//     of temporary files, and for the agent of a step the attempt's files. An agent
//     that may only read has the same sandbox, since tests write, and ralph undoes
//     what it changed. Tools have no network, as Codex has it: who needs one says
//     run = ["codex", "-c", "sandbox_workspace_write.network_access=true"]. `git commit`
//     does not work in a worktree; ralph commits.
//   - Endless waiting for a network is off (unbounded_connection_retries); a version
//     without that switch, or one that waits for a rate limit, is ended after Patience.
//     A model that never answers ends with stall or the step's time; Codex' own limit
//     is five minutes, six times. Limits of retries cannot be set for OpenAI itself.
//   - Every turn has a TMPDIR of its own, which is removed after it, and Codex'
//     analytics, which hold up its end, are off.
//
// A slug names a profile, a file NAME.config.toml in Codex' home directory.
//
// The turn has succeeded when turn.completed was said and no error after the last
// sign of work, whatever the exit code is. Failures are told apart by their text, the
// only thing that Codex gives: see classify. A request that Codex did not try again
// was refused by the model: a configuration failure. Tokens are counted by Codex over
// the whole thread, in a copy with those of the original; the runner subtracts.
//
// Not done: a person who writes in the session is not seen; a background terminal of
// the agent counts as a tool that runs, so that a turn with one ends by its time and
// not by a stall; a thread that began in a turn that was killed at once may not be
// known to Codex later (a session failure: a fresh one).
package codex
