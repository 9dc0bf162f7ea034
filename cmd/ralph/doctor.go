package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/internal/columns"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/term"
	"github.com/ralph-compiler/ralph/internal/text"
)

// minGit is the first git whose merge-tree can write a tree without a worktree.
var minGit = [2]int{2, 38}

// finding is one line of doctor.
type finding struct {
	Name   string `json:"name"`
	State  string `json:"state"` // ok, missing, warning, error
	Detail string `json:"detail"`
	Hint   string `json:"hint,omitempty"`
}

func newDoctorCommand() *cobra.Command {
	var asJSON, live bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check git, agents and tools on this machine",
		Long: `Doctor looks at what ralph needs and what it can use: git (2.38 or newer), the agent
programs, gh, bd and Graphviz on PATH, and another program that is called ralph. It
runs each with its version flag only. In a project it looks at the disk space that
worktrees will find, at each runner that the policy's agents and those of epic.json
have (is it there, is it a version that ralph was tried with, what can it not do), at
the beads database if there is a tracker, and, if there is an epic.json, at all that
ralph apply asks for before it starts: the programs of its agents and gates. Exit 1
when something that ralph, or this epic, cannot do without is missing.

--live lets each of these runners do one turn of a minute at most, in an empty
directory, with the model that it is configured for: it says hello by the tool with
which agents report. This costs what the model costs, and the line says how much.`,
		Example: `  ralph doctor
  ralph doctor --live        also a hello from each agent program, with its model
  ralph doctor --json`,
		Args: countArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(background(cmd), os.Interrupt, syscall.SIGTERM)
			defer stop()
			found := append(examine(ctx), examineProject(ctx, live)...)
			if ctx.Err() != nil {
				return &exitError{exitInterrupted, errors.New("interrupted")}
			}
			if asJSON {
				if err := writeJSON(cmd.OutOrStdout(), found); err != nil {
					return err
				}
			} else {
				sayFindings(cmd, found)
			}
			for _, f := range found {
				if f.State == "error" {
					return &exitError{code: exitInput}
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&live, "live", false, "let each agent program say hello: it costs a turn")
	return cmd
}

// tool is a program that ralph can use.
type tool struct{ name, flag, purpose, hint string }

// tools are all of them but git.
var tools = []tool{
	{"claude", "--version", "runner claude", "npm install -g @anthropic-ai/claude-code"},
	{"opencode", "--version", "runner opencode", "npm install -g opencode-ai"},
	{"codex", "--version", "runner codex", "npm install -g @openai/codex"},
	{"gh", "--version", "pull requests (integration { pr = … })", "https://cli.github.com"},
	{"bd", "version", "tracker \"bd\"", "https://github.com/steveyegge/beads"},
	{"dot", "-V", "ralph graph --format svg", "install Graphviz: apt-get install graphviz, brew install graphviz"},
}

func examine(ctx context.Context) []finding {
	if ctx == nil {
		ctx = context.Background()
	}
	found := []finding{
		{Name: "ralph", State: "ok", Detail: version() + " " + runtime.GOOS + "/" + runtime.GOARCH},
		examineGit(ctx),
	}
	if f, ok := otherRalph(); ok {
		found = append(found, f)
	}
	for _, t := range tools {
		f := finding{Name: t.name, State: "ok"}
		path, err := exec.LookPath(t.name)
		if err != nil {
			f.State, f.Detail, f.Hint = "missing", "not on PATH; needed for "+t.purpose, t.hint
		} else if f.Detail = firstLine(ctx, path, t.flag); f.Detail == "" {
			f.State, f.Detail = "warning", path+" "+t.flag+" does not answer"
		}
		found = append(found, f)
	}
	return found
}

var gitVersion = lazyregexp.New(`git version (\d+)\.(\d+)`)

func examineGit(ctx context.Context) finding {
	f := finding{Name: "git", State: "ok"}
	path, err := exec.LookPath("git")
	if err != nil {
		return finding{Name: "git", State: "error", Detail: "not on PATH; ralph cannot apply anything without it", Hint: "https://git-scm.com/downloads"}
	}
	f.Detail = firstLine(ctx, path, "--version")
	m := gitVersion.FindStringSubmatch(f.Detail)
	if m == nil {
		f.State, f.Hint = "error", path+" --version does not say a version"
		return f
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	if major < minGit[0] || major == minGit[0] && minor < minGit[1] {
		f.State = "error"
		f.Hint = fmt.Sprintf("ralph apply needs git %d.%d or newer (merge-tree --write-tree)", minGit[0], minGit[1])
	}
	return f
}

// otherRalph looks for another program of this name on PATH: the name is taken
// by several projects.
func otherRalph() (finding, bool) {
	self, err := os.Executable()
	if err != nil {
		return finding{}, false
	}
	mine, err := os.Stat(self)
	if err != nil {
		return finding{}, false
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		path := filepath.Join(dir, filepath.Base(self))
		info, err := os.Stat(path)
		if err != nil || info.IsDir() || info.Mode().Perm()&0o111 == 0 || os.SameFile(mine, info) {
			continue
		}
		return finding{
			Name: "PATH", State: "warning", Detail: "another " + filepath.Base(self) + " is at " + path,
			Hint: "call this one by its path, or put its directory first in PATH",
		}, true
	}
	return finding{}, false
}

var versionLine = lazyregexp.New(`(?m)^.*\d+\.\d+.*$`)

// firstLine is the line with which a program says its version, else its first.
func firstLine(ctx context.Context, path string, arg string) string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	program := exec.CommandContext(ctx, path, arg)
	program.WaitDelay = time.Second // a child of it may hold the output open
	out, err := program.CombinedOutput()
	if err != nil && len(out) == 0 {
		return ""
	}
	line := text.FirstLine(string(out))
	if l := versionLine.Find(out); l != nil { // some warn before they say it
		line = string(l)
	}
	return columns.Truncate(reveal.Words(strings.TrimSpace(line)), 80)
}

func sayFindings(cmd *cobra.Command, found []finding) {
	out := cmd.OutOrStdout()
	style := term.For(out)
	roles := map[string]term.Colour{"ok": term.Good, "missing": term.Faint, "warning": term.Warn, "error": term.Bad}
	for _, f := range found {
		fmt.Fprintf(out, "%s  %-9s %s\n", style.Paint(roles[f.State], fmt.Sprintf("%-7s", f.State)), reveal.Words(f.Name), reveal.Words(f.Detail))
		for line := range strings.Lines(f.Hint) {
			fmt.Fprintf(out, "%20s%s\n", "", reveal.Words(strings.TrimSuffix(line, "\n")))
		}
	}
}
