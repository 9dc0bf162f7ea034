package claude

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/internal/regular"
)

// server is the name of ralph's MCP server for Claude Code. It is the same in all
// turns of a session, so that what the model called before it can call again; each
// process has servers of its own anyway.
const server = "ralph"

// What an agent may do without being asked; the rest is refused.
var allowed = []string{"Bash", "Read", "Glob", "Grep", "Task", "Agent", "Skill", "WebFetch", "WebSearch", "TodoWrite"}

// What no agent has: tools that outlive the turn, leave the worktree or wait for a person.
var never = []string{
	"AskUserQuestion", "CronCreate", "CronDelete", "CronList", "EnterPlanMode", "EnterWorktree", "ExitPlanMode", "ExitWorktree",
	"ListAgents", "Monitor", "ScheduleWakeup", "SendMessage", "Workflow",
}

// What an agent that only reads has not.
var editing = []string{"Edit", "MultiEdit", "NotebookEdit", "Write"}

// session is which conversation a turn is of.
type session struct {
	id     string // of the turn
	resume string // of the conversation that it continues with; "" is none
}

// sessionOf chooses the session of a turn.
func sessionOf(r executor.AgentRun) session {
	switch s := r.Effect.Session; {
	case s == "":
		return session{id: newID()}
	case r.Fork:
		return session{id: newID(), resume: s}
	default:
		return session{id: s, resume: s}
	}
}

// newID is a random UUID: Claude Code takes nothing else as the id of a session.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// flags are the arguments after the program's own.
func flags(r executor.AgentRun, s session, m room) []string {
	out := []string{
		"-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--include-partial-messages",
		"--setting-sources", "user", "--strict-mcp-config", "--permission-mode", "acceptEdits",
		"--allowedTools", strings.Join(mayUse(r), ","), "--disallowedTools", strings.Join(mayNot(r), ","),
	}
	switch {
	case s.resume == "":
		out = append(out, "--session-id", s.id, "--name", title(r))
	case s.resume != s.id:
		out = append(out, "--resume", s.resume, "--fork-session", "--session-id", s.id)
	default:
		out = append(out, "--resume", s.resume)
	}
	if s.resume != "" { // else the tools that the conversation began with are offered, in their old shape
		out = append(out, "--system-prompt-snapshot", "off")
	}
	if model := runner.ModelOf(r); model != "" {
		out = append(out, "--model", model)
	}
	if m.agents != "" {
		out = append(out, "--agents", m.agents)
	}
	if m.agent != "" {
		out = append(out, "--agent", m.agent)
	}
	if m.mcp != "" {
		out = append(out, "--mcp-config", m.mcp)
	}
	if notes := projectNotes(r); notes != "" {
		out = append(out, "--append-system-prompt", notes)
	}
	return out
}

// title is what a person sees in the list of sessions.
func title(r executor.AgentRun) string {
	return fmt.Sprintf("ralph %s %s/%d %s", r.Node.Key, r.Step.Name, r.Effect.Attempt, r.Turn())
}

func mayUse(r executor.AgentRun) []string {
	out := slices.Clone(allowed)
	if r.Tools != nil {
		out = append(out, "mcp__"+server)
	}
	// The outcome file is outside the worktree, where edits are refused.
	if path := runner.Seen(r, runner.OutcomeExt); !r.Read && filepath.IsAbs(path) && !strings.ContainsAny(path, "()*, ") {
		out = append(out, "Edit(/"+path+")")
	}
	return out
}

func mayNot(r executor.AgentRun) []string {
	if r.Read {
		return slices.Concat(editing, never)
	}
	return never
}

// projectNotes point an agent that may write to the notes of the project, which
// are not loaded: see the package comment.
func projectNotes(r executor.AgentRun) string {
	if r.Read || r.Raw {
		return ""
	}
	for _, name := range []string{"CLAUDE.md", ".claude/CLAUDE.md", "AGENTS.md"} {
		if st, err := os.Stat(filepath.Join(r.Dir, name)); err == nil && st.Mode().IsRegular() {
			return "The project keeps notes for agents in " + name + ". Read them before you begin. Where they contradict your task, your task holds."
		}
	}
	return ""
}

// settings are the variables that Claude Code is run with, unless the runner's
// block sets them.
func settings(r executor.AgentRun, m room) map[string]string {
	limit := max(r.Step.Limits.TimeoutMS, 10*60_000)
	out := map[string]string{
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
		"DISABLE_AUTOUPDATER":                      "1",
		"CLAUDE_CODE_DISABLE_AUTO_MEMORY":          "1",
		"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS":     "1",
		"CLAUDE_CODE_DISABLE_CRON":                 "1",
		"CLAUDE_CODE_DISABLE_FILE_MENTIONS":        "1",
		"CLAUDE_CODE_MAX_RETRIES":                  "2",
		"CLAUDE_ENABLE_BYTE_WATCHDOG":              "1",
		"CLAUDE_BYTE_STREAM_IDLE_TIMEOUT_MS":       strconv.FormatInt(silence(r), 10),
		"BASH_DEFAULT_TIMEOUT_MS":                  "300000", // two minutes are less than many builds take, and what runs on goes nowhere else
		"BASH_MAX_TIMEOUT_MS":                      strconv.FormatInt(limit, 10),
		"CLAUDE_CODE_TMPDIR":                       m.temp,
		"TMPDIR":                                   m.temp,
	}
	if r.Wall != nil { // which has its own
		out["CLAUDE_CODE_TMPDIR"], out["TMPDIR"] = "/tmp", "/tmp"
	}
	for name := range r.Runner.Set {
		delete(out, name)
	}
	return out
}

// silence is how long a model's stream may be silent, in milliseconds: Claude Code
// tries it three times, which has to fit into the time after which the turn counts
// as stalled. It takes 10 s or more.
func silence(r executor.AgentRun) int64 {
	if stall := r.Step.Stall.AfterMS; stall > 0 {
		return min(max(stall/4, 10_000), 120_000)
	}
	return 120_000
}

// room are the files of a turn that only this runner knows.
type room struct {
	temp   string   // directory for temporary files
	agents string   // file with the agent's text; "" if it has none
	agent  string   // its name; "" is Claude Code's own
	mcp    string   // file with the MCP server, the last one made; "" if there is none
	made   []string // where the files are on the machine
}

// furnish makes the files. What was made is removed by clear, also after an error.
func furnish(r executor.AgentRun) (m room, err error) {
	// Not below the run's state: that is in git's directory, where tools that look
	// for a repository above them go astray.
	if m.temp, err = regular.MkdirTemp("ralph-claude-"); err != nil {
		return m, err
	}
	switch {
	case r.Slug != "":
		m.agent = r.Slug
	case r.Text != "":
		name := runner.AgentOf(r)
		sum := sha256.Sum256([]byte(r.Text))
		m.agent = fmt.Sprintf("ralph-%s-%x", plain(name), sum[:4])
		m.agents = runner.Seen(r, ".agents.json")
		if err := m.private(r, ".agents.json", map[string]any{m.agent: map[string]string{"description": "agent " + name, "prompt": r.Text}}); err != nil {
			return m, err
		}
	}
	if r.Tools == nil {
		return m, nil
	}
	entry := map[string]any{"type": "http", "url": r.Tools.URL, "headers": map[string]string{"Authorization": "Bearer " + r.Tools.Token}, "alwaysLoad": true}
	if r.Tools.URL == "" && len(r.Tools.Proxy) > 0 {
		entry = map[string]any{"type": "stdio", "command": r.Tools.Proxy[0], "args": r.Tools.Proxy[1:], "env": r.Tools.ProxyEnv, "alwaysLoad": true}
	}
	m.mcp = runner.Seen(r, ".mcp.json")
	return m, m.private(r, ".mcp.json", map[string]any{"mcpServers": map[string]any{server: entry}})
}

// clear removes the files.
func (m room) clear() {
	for _, f := range m.made {
		_ = os.Remove(f) // it may be gone
	}
	if m.temp != "" {
		_ = os.RemoveAll(m.temp) // what cannot be removed is in a directory of its own
	}
}

// private writes a file of the turn that only this user can read.
func (m *room) private(r executor.AgentRun, ext string, v any) error {
	path := runner.Place(r, ext)
	b, err := json.Marshal(v)
	if err == nil {
		m.made = append(m.made, path)
		err = regular.WriteOwn(path, b, 0o600)
	}
	return err
}

// plain is a name as Claude Code takes it for an agent.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '-'
	}, s)
}
