// Package claude runs Claude Code as an agent: one `claude -p` for each turn, with
// line JSON both ways.
//
// In: an executor.AgentRun. Out: how the turn ended, what was reported, what it
// cost. It imports executor, executor/runner, ir, internal/process and
// internal/yaml; app makes it.
//
// Tried with 2.1.328. What it does, and which of Claude Code's ways it works around:
//
//   - Session. The id is chosen here and recorded before the start (--session-id), so
//     that a cut turn can be resumed (--resume). Claude Code finds a session from any
//     directory; a fork (--fork-session) also gets an id chosen beforehand, and leaves
//     the original unchanged. A session unknown to Claude Code is FailSession, as is
//     one that has become longer than its model takes.
//   - Success is the last `result` line without is_error. Neither its subtype (a
//     server's error is "success") nor the exit code counts: it is 0 after a refused
//     permission.
//   - The worktree's content does not configure the program: an earlier sprint's agent
//     may have written it. --setting-sources user leaves out the worktree's
//     settings (hooks would run without a question, apiKeyHelper and env too), agents,
//     skills, commands, rules and CLAUDE.md; --strict-mcp-config its MCP servers and
//     the user's. The user's own settings, hooks and login apply. An agent that may
//     write is told to read the project's CLAUDE.md, else its AGENTS.md; gates and read
//     agents are not. Memories that a session keeps for the next one in the same
//     directory are off.
//   - The agent's text goes inline (--agents) under a name made of its digest, so that
//     it matches no other agent. A slug selects the user's own agent of that name; the
//     project's agents go by path instead.
//   - Permissions. acceptEdits, and the tools that it would ask about are allowed:
//     this works as root too (--dangerously-skip-permissions does not), edits outside
//     the worktree and of git's and Claude Code's own files are refused, and a
//     refusal ends no turn. There are no prompts. Access read takes the editing tools
//     away; the shell stays.
//   - Tools that would outlive the turn or leave the worktree are off: background
//     tasks and agents (a second result would come), cron, wake-ups, worktrees.
//   - MCP. ralph's server is in a file that only the user can read, is loaded at once
//     (Claude Code defers tools otherwise), and the file is removed once it is connected.
//     For Claude Code an unconnected server is no error: here it is FailConfig, as is
//     an agent that it does not know, in whose place it would work as itself. A resumed
//     session offers its original tools, in their old shape, unless
//     --system-prompt-snapshot is off.
//   - Failures. Few retries of its own (each is shown); the meaning of a 429, 5xx, 4xx,
//     a refused login or an unknown model is read from the error in the stream. A
//     limit's end comes from rate_limit_event, else from the text. A model that sends
//     nothing at all is found by the byte watchdog, before the turn counts as stalled.
//   - Usage is counted since the last result (model_usage_since_last_result), with
//     subagents; total_cost_usd and modelUsage count the whole session, forks included,
//     and are only used where that is missing. A killed turn's tokens are summed from
//     its stream. A price that Claude Code only guesses is not used.
//   - End. An interrupt over stdin first, then SIGTERM to the program alone, which
//     then ends its tools, then SIGKILL to all: tools run in sessions of their own.
//   - A prompt that begins with a slash would be taken for a command.
//   - A person. The session's transcript is read during the turn and at its end; a
//     person's input there ends the turn (EndTakenOver). The program is then killed at
//     once: the session would continue from what it wrote after the person's words
//     (what it writes in the fifth of a second before the kill is still found there).
//     The format of transcripts is not documented; unreadable lines count as no person.
//   - Private directories for temporary files, removed at the end.
package claude
