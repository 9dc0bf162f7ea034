package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/policies"
)

// configured are the runners that a policy and an epic name.
type configured struct {
	epic   *ir.Epic            // made up: all runners and secrets of both, and the sandbox that holds where none is named
	agents map[string][]string // that use a runner, by its name
	models map[string]ir.Model // that the first of them asks for, by the runner's name; its ID may be an alias that stands for nothing
}

// configuredRunners gathers the runners of the policy's agents and of the epic (nil
// if there is none). Unused ones are included if declared.
func configuredRunners(set *policies.Set, epic *ir.Epic) *configured {
	c := &configured{
		epic:   &ir.Epic{Runners: map[string]ir.Runner{}, Secrets: map[string]ir.Secret{}, Agents: map[string]ir.Agent{}, Sandboxes: map[string]ir.Sandbox{}},
		agents: map[string][]string{}, models: map[string]ir.Model{},
	}
	for name, s := range set.Secrets {
		c.epic.Secrets[name] = ir.Secret{Env: s.Env.Get(name)}
	}
	if s := set.Sandboxes[ir.DefaultSandbox]; s != nil {
		c.epic.Sandboxes[ir.DefaultSandbox] = compiler.Sandbox(s)
	}
	for name, r := range set.Runners {
		if !r.Builtin {
			c.epic.Runners[name] = compiler.Runner(r)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(set.Agents)) {
		a := set.Agents[name]
		r := set.Runners[a.Runner.V]
		if a.Human.V || !a.Active.V || r == nil || a.Builtin && (set.UserAgents() || epic != nil) {
			continue
		}
		c.epic.Runners[a.Runner.V] = compiler.Runner(r)
		m := ir.Model{ID: a.Model.V}
		if alias := set.Models[a.Model.V]; alias != nil {
			m = ir.Model{ID: cmp.Or(alias.ID.V, a.Model.V), Provider: alias.Provider.V, PriceInput: alias.PriceInput.V, PriceOutput: alias.PriceOutput.V}
		}
		if c.use(a.Runner.V, name, m); a.Builtin {
			c.agents[a.Runner.V] = nil
		}
	}
	if epic == nil {
		return c
	}
	maps.Copy(c.epic.Secrets, epic.Secrets)
	maps.Copy(c.epic.Runners, epic.Runners)
	if s, has := epic.Sandboxes[ir.DefaultSandbox]; has {
		c.epic.Sandboxes[ir.DefaultSandbox] = s
	}
	for _, name := range slices.Sorted(maps.Keys(epic.Agents)) {
		a := epic.Agents[name]
		if a.Human {
			continue
		}
		m, known := epic.Models[a.Model]
		if m.ID = cmp.Or(m.ID, a.Model); !known {
			m = ir.Model{ID: a.Model}
		}
		c.use(a.Runner, name, m)
	}
	return c
}

func (c *configured) use(runner, agent string, m ir.Model) {
	if !slices.Contains(c.agents[runner], agent) {
		c.agents[runner] = append(c.agents[runner], agent)
	}
	if c.models[runner].ID == "" {
		c.models[runner] = m
	}
	c.epic.Agents[agent] = ir.Agent{Runner: runner}
}

// examine looks at each of them; with live it lets them say hello.
func (c *configured) examine(ctx context.Context, dir string, live bool) (found []Finding, err error) {
	crew := run.NewCrew(c.epic)
	defer func() { err = errors.Join(err, crew.Close()) }()
	files, err := regular.MkdirTemp("ralph-doctor-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(files)) }()
	for _, name := range slices.Sorted(maps.Keys(c.epic.Runners)) {
		r := c.epic.Runners[name]
		program, ok := crew.ProgramOf(r.Kind)
		switch {
		case crew.By[r.Kind] == nil:
			found = append(found, Finding{Name: "runner " + name, State: c.missing(name), Detail: fmt.Sprintf("kind %q: there are %s", r.Kind, strings.Join(run.RunnerKinds, ", "))})
			continue
		case !ok:
			found = append(found, c.command(ctx, name, crew.By[r.Kind], dir, files))
			continue
		}
		f, gone := c.program(ctx, name, program, dir, files)
		found = append(found, f)
		if live && !gone {
			found = append(found, c.hello(ctx, name, crew.By[r.Kind]))
		}
	}
	return found, nil
}

// about asks something of a runner in the name of an agent that uses it.
func (c *configured) about(name, dir, files string) executor.AgentRun {
	run := run.AboutRun("doctor", c.epic.Runners[name], dir, files)
	if run.Agent = name; len(c.agents[name]) > 0 {
		run.Agent = c.agents[name][0]
	}
	return run
}

// command looks at a runner whose programs are no more than that.
func (c *configured) command(ctx context.Context, name string, by executor.Runner, dir, files string) Finding {
	r := c.epic.Runners[name]
	f := Finding{Name: "runner " + name, State: "ok", Detail: r.Kind + ": " + strings.Join(r.Run, " ")}
	if err := by.Check(ctx, c.about(name, dir, files)); err != nil {
		f.State, f.Hint = c.missing(name), err.Error()
	}
	return f
}

// missing is how bad it is that a runner cannot run. What the epic cannot do without
// is an error of its own.
func (c *configured) missing(name string) string {
	if len(c.agents[name]) == 0 {
		return "missing"
	}
	return "warning"
}

// program looks at a runner of an agent program: is it there, is it one that was
// tried, what can it not do, who is logged in.
func (c *configured) program(ctx context.Context, name string, p executor.Program, dir, files string) (f Finding, gone bool) {
	r := c.epic.Runners[name]
	about := c.about(name, dir, files)
	d := p.Describe()
	f = Finding{Name: "runner " + name, State: "ok"}
	if err := p.Check(ctx, about); err != nil {
		f.State, f.Detail, f.Hint = c.missing(name), fmt.Sprintf("kind %s: %v", r.Kind, err), installs(r.Kind)
		return f, true
	}
	var hints []string
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	version, err := p.Version(ctx, about)
	if err != nil {
		f.State, version = "warning", "of unknown version"
		hints = append(hints, err.Error())
	}
	f.Detail = d.Name + " " + version
	if path, err := (runner.Base{Secrets: c.epic.Secrets}).Look(about, r.Kind); err == nil {
		f.Detail += " (" + path + ")"
	}
	if d.Tested != "" && err == nil {
		switch fits, ferr := policies.VersionFits(d.Tested, version); {
		case ferr != nil:
			hints = append(hints, fmt.Sprintf("ralph was tried with %s; whether this version works is unknown: %v", d.Tested, ferr))
		case !fits:
			f.State = "warning"
			hints = append(hints, fmt.Sprintf("ralph was tried with %s: it may work; check the first run closely (ralph doctor --live sends a greeting)", d.Tested))
		}
	}
	for _, can := range slices.Sorted(maps.Keys(d.Cannot)) {
		hints = append(hints, fmt.Sprintf("cannot %s: %s", can, d.Cannot[can]))
	}
	if l := noLogin(r); l != "" {
		hints = append(hints, l)
	}
	f.Hint = strings.Join(hints, "\n")
	return f, false
}

// installs says how the program of a kind is installed.
func installs(kind string) string {
	for _, t := range run.Tools {
		if t.Name == kind {
			return t.Hint
		}
	}
	return ""
}

// logins are where programs keep their login, and the variables that stand for one.
var logins = map[string]struct {
	file     string // below the home
	dir, own string // the variable that names its directory, and the file in there
	keys     []string
	how      string
}{
	"claude":   {".claude/.credentials.json", "CLAUDE_CONFIG_DIR", ".credentials.json", []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"}, "run claude once (ralph login claude, if the policy confines it)"},
	"opencode": {".local/share/opencode/auth.json", "XDG_DATA_HOME", "opencode/auth.json", []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY"}, "opencode auth login"},
	"codex":    {".codex/auth.json", "CODEX_HOME", "auth.json", []string{"CODEX_API_KEY", "OPENAI_API_KEY"}, "codex login (ralph login codex, if the policy confines it)"},
}

// noLogin says that no login was seen, as far as that can be told without asking
// the program; "" if there may be one.
func noLogin(r ir.Runner) string {
	l, known := logins[r.Kind]
	if !known || runtime.GOOS != "linux" || len(r.Set) > 0 || len(r.Secrets) > 0 { // elsewhere it is in a key chain
		return ""
	}
	for _, k := range l.keys {
		if os.Getenv(k) != "" && slices.Contains(r.Env, k) {
			return ""
		}
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	at := filepath.Join(home, filepath.FromSlash(l.file))
	if dir := os.Getenv(l.dir); dir != "" && slices.Contains(r.Env, l.dir) {
		at = filepath.Join(dir, filepath.FromSlash(l.own))
	}
	if _, err := os.Stat(at); err == nil {
		return ""
	}
	return fmt.Sprintf("no login was seen (%s, or %s in the environment): %s, or let ralph doctor --live try", at, strings.Join(l.keys, ", "), l.how)
}

// examineSandboxes names those that apply would refuse.
func examineSandboxes(ctx context.Context, set *policies.Set) []Finding {
	var found []Finding
	names := slices.Sorted(maps.Keys(set.Sandboxes))
	_, unheld := run.Grouped(ctx, lists.Table(names, func(name string) (string, map[string]string) { return name, set.Sandboxes[name].Limits.V }))
	for _, name := range names {
		s := set.Sandboxes[name]
		if why := unheld[name]; !s.Builtin && why != "" {
			found = append(found, Finding{Name: "sandbox " + name, State: "warning", Detail: why, Hint: "ralph apply refuses agents and gates that use it"})
		}
		if !s.Builtin && !run.Makes(s.Kind.V) {
			found = append(found, Finding{
				Name: "sandbox " + name, State: "warning", Detail: fmt.Sprintf("kind %s: ralph apply refuses agents and gates that use it", s.Kind.V), Hint: "write kind = \"auto\"",
			})
		}
	}
	return found
}
