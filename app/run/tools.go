package run

// tool is a program that ralph can use.
type tool struct{ Name, Flag, Purpose, Hint string }

// tools are all of them but git.
var Tools = []tool{
	{"claude", "--version", "runner claude", "npm install -g @anthropic-ai/claude-code"},
	{"opencode", "--version", "runner opencode", "npm install -g opencode-ai"},
	{"codex", "--version", "runner codex", "npm install -g @openai/codex"},
	{"gh", "--version", "pull requests (integration { pr = … })", "https://cli.github.com"},
	{"glab", "--version", "merge requests (integration { pr = … })", "https://gitlab.com/gitlab-org/cli"},
	{"bd", "version", "tracker \"bd\"", "https://github.com/steveyegge/beads"},
	{"dot", "-V", "ralph graph --format svg", "install Graphviz: apt-get install graphviz, brew install graphviz"},
}
