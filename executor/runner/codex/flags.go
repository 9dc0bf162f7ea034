package codex

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/internal/lists"
)

// tokenVar is the variable from which Codex takes the token of the turn's MCP
// server. It is kept from tools: what they run may be what is judged.
const tokenVar = "RALPH_MCP_TOKEN"

// flags are what follows the program and the user's own options: what ralph says
// comes last and wins. others are the names of MCP servers to be left out.
func flags(r executor.AgentRun, others []string) []string {
	out := []string{"exec", "--json", "--skip-git-repo-check", "-s", confined(r), "-C", r.Dir}
	if r.Effect.Gate == "" && !r.Raw && r.Wall == nil {
		out = append(out, "--add-dir", r.Files) // RALPH_OUTCOME; a judge only reports, and runs what is judged
	}
	if r.Slug != "" {
		out = append(out, "-p", r.Slug)
	}
	if m := runner.ModelOf(r); m != "" {
		out = append(out, "-m", m)
	}
	for _, s := range settings(r, others) {
		out = append(out, "-c", s)
	}
	switch {
	case r.Effect.Session == "":
		return append(out, "-")
	case r.Fork:
		return append(out, "fork", r.Effect.Session, "-")
	}
	return append(out, "resume", r.Effect.Session, "-")
}

// confined is what Codex confines its tools to. Its own sandbox does not nest in ralph's:
// every tool would fail, and the turn would still end well.
func confined(r executor.AgentRun) string {
	if r.Wall != nil {
		return "danger-full-access"
	}
	return "workspace-write"
}

// settings are what ralph sets for a turn, as Codex' -c takes it.
func settings(r executor.AgentRun, others []string) []string {
	out := []string{
		`approval_policy="never"`,
		"analytics.enabled=false", // else the end of a turn waits for it
		"features.plugins=false",  // they bring MCP servers and hooks
		"features.apps=false",     // so do they
		"features.unbounded_connection_retries=false",
		"sandbox_workspace_write.exclude_slash_tmp=true", // there is TMPDIR; in each place where tools may write the sandbox leaves an empty .git, and one in /tmp stops git and go below it
		untrusted(r.Dir),
		"project_doc_max_bytes=0",
		fmt.Sprintf("shell_environment_policy.exclude=[%q]", tokenVar),
	}
	if r.Wall != nil {
		out = append(out, "allow_login_shell=false") // the user's profile is not there, and the system's, which landlock shows, sets another PATH
	}
	if r.Effect.Gate != "" || r.Raw {
		out = append(out, "skills.include_instructions=false") // skills of the worktree are what is judged, too
	}
	if list := servers(r, others); list != "" {
		out = append(out, list)
	}
	return out
}

// servers are the MCP servers of the turn, "" if nothing is to be said. It is merged
// into what files say, and takes the place of what other options say: there is one.
func servers(r executor.AgentRun, others []string) string {
	list := lists.Map(others, func(name string) string { return key(name) + "={enabled=false}" })
	if r.Tools != nil {
		list = append(list, fmt.Sprintf(
			`%s={url=%s,bearer_token_env_var=%q,required=true,default_tools_approval_mode="approve"}`, key(r.Tools.Name), key(r.Tools.URL), tokenVar))
	}
	if len(list) == 0 {
		return ""
	}
	return "mcp_servers={" + strings.Join(list, ",") + "}"
}

// untrusted keeps Codex from what the worktree says of Codex (.codex/, AGENTS.md),
// also where the user trusts the repository: an earlier agent may have written it.
func untrusted(dir string) string {
	names := []string{dir}
	if real, err := filepath.EvalSymlinks(dir); err == nil && real != dir {
		names = append(names, real)
	}
	slices.Sort(names)
	for i, n := range names {
		names[i] = key(n) + `={trust_level="untrusted"}`
	}
	return "projects={" + strings.Join(names, ",") + "}"
}

// key is a text as TOML writes it. JSON's escapes are among TOML's.
func key(s string) string {
	b, _ := json.Marshal(s) // a string always can
	return strings.ReplaceAll(string(b), "\x7f", `\u007f`)
}
