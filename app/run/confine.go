package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/executor/effects"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/sandbox"
	"github.com/ralph-compiler/ralph/internal/wall"
	"github.com/ralph-compiler/ralph/ir"
)

// Confine says what the sandboxes of an epic are made with on this machine: each kind is
// tried. instead is what the command line asks for in place of them all, "none" or
// "landlock"; "" for nothing. said are lines for the reader. From now on the space starts what it starts
// for a confined node in that sandbox. The error names all sandboxes that cannot be made:
// nothing has started.
func Confine(ctx context.Context, epic *ir.Epic, space *workspace.Space, instead string) (c effects.Confinement, said []string, err error) {
	names := inUse(epic)
	space.Walls = func(ir.NodeID, workspace.Purpose, string) (*wall.Spec, error) { return nil, nil }
	if len(names) == 0 {
		return c, []string{nothingConfined}, nil
	}
	if c, err = material(epic); err != nil {
		return c, nil, err
	}
	c.Mounts = space.Trees.Mounts
	var refused []string
	c.Kinds, c.Groups, refused = kinds(ctx, epic, names, instead, newAttempts(ctx))
	if why := notConfined(epic, names, refused); why != "" {
		return c, nil, exit.Unstartedf("%s", why)
	}
	t := effects.Tools{Epic: epic, State: space.State(), Confinement: c}
	space.Walls = func(id ir.NodeID, p workspace.Purpose, _ string) (*wall.Spec, error) {
		return t.Around(id, p == workspace.Setup)
	}
	if instead == string(wall.None) {
		return c, []string{"warning: " + AsYou}, nil
	}
	for _, name := range names {
		said = append(said, fmt.Sprintf("sandbox %s: %s", name, c.Kinds[name]))
	}
	warnings, notes := pathsOf(epic, names, c.Home, space)
	for _, w := range warnings {
		said = append(said, "warning: "+w)
	}
	for _, n := range notes {
		said = append(said, "note: "+n)
	}
	used := slices.Collect(maps.Values(c.Kinds))
	if slices.Contains(used, wall.Landlock) {
		said = append(said, fenced()...)
	}
	for _, kind := range wall.Confining {
		if err != nil || !slices.Contains(used, kind) {
			continue
		}
		has := false
		if has, err = sandbox.Overlays(ctx, kind, filepath.Dir(filepath.Dir(space.State()))); err == nil && !has {
			said = append(said, fmt.Sprintf("note: sandboxes of kind %s have no overlays here: they read your downloads (Go modules, npm, …) and begin with an empty build cache", kind))
		}
	}
	return c, said, err
}

// without says how an epic runs on a machine that cannot make its sandboxes, "" if it must not.
func without(epic *ir.Epic, names []string) string {
	if slices.ContainsFunc(names, func(name string) bool { return epic.Sandboxes[name].Required }) {
		return ""
	}
	return "\n  To run without a sandbox on this machine, add --sandbox none."
}

// Unconfinable is why Confine would refuse to make the sandboxes of an epic on this machine, "" if it
// would not. It tries them, and may move this process to another group.
func Unconfinable(ctx context.Context, epic *ir.Epic, instead string) string {
	names := inUse(epic)
	_, _, refused := kinds(ctx, epic, names, instead, newAttempts(ctx))
	return notConfined(epic, names, refused)
}

// notConfined is the text of what was refused, "" if nothing was.
func notConfined(epic *ir.Epic, names, refused []string) string {
	if len(refused) == 0 {
		return ""
	}
	return fmt.Sprintf("agents and gates cannot be confined here as the policy asks:\n  - %s%s", strings.Join(refused, "\n  - "), without(epic, names))
}

// Shown are lines on what the sandboxes of an epic let through, for who has it run.
func Shown(epic *ir.Epic) (lines []string) {
	for _, name := range inUse(epic) {
		s := epic.Sandboxes[name]
		line := fmt.Sprintf("sandbox %s (%s): agents reach %s", name, s.Kind, cmp.Or(strings.Join(slices.Concat(s.Network, s.Services), ", "), "no host"))
		for _, more := range []struct {
			does string
			what []string
		}{{"reads", s.Read}, {"writes", s.Write}, {"fills caches", s.Cache}} {
			if len(more.what) > 0 {
				line += "; it " + more.does + " " + strings.Join(more.what, ", ")
			}
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return []string{nothingConfined}
	}
	reaches := func(who string, c ir.Confined) {
		if len(c.Network) > 0 {
			lines = append(lines, fmt.Sprintf("%s in sandbox %s reaches %s", who, c.Name, strings.Join(c.Network, ", ")))
		}
	}
	for _, gate := range slices.Sorted(maps.Keys(epic.Gates)) {
		reaches("gate "+gate, epic.GateConfined(gate, false))
	}
	reaches("setup", epic.SetupConfined())
	return lines
}

// nothingConfined is said where there is no sandbox.
const nothingConfined = "no sandbox: agents and gates run as you, and can do what you can (sandbox \"default\" { kind = \"auto\" } confines them)"

// AsYou is the warning of --sandbox none.
const AsYou = "--sandbox none: agents and gates run as you, and can do what you can"

// fenced are lines on what sandboxes of landlock do not hold.
func fenced() []string {
	whose := "your files"
	if os.Geteuid() == 0 {
		whose = "all files"
	}
	said := []string{"warning: landlock holds less than namespaces: the permissions of " + whose + ", the worktree's .git/config and the command lines of processes stay open", "note: sandboxes of kind landlock have no overlays: they read your downloads (Go modules, npm, …) and begin with an empty build cache"}
	if weak := sandbox.Weak(); weak != "" {
		said = append(said, "warning: "+weak)
	}
	return said
}

// attempts tries each kind of sandbox once, when it is first asked for.
type attempts map[wall.Kind]func() error

func newAttempts(ctx context.Context) attempts {
	t := attempts{}
	for _, kind := range append(slices.Clip(wall.Confining), wall.Landlock) {
		t[kind] = sync.OnceValue(func() error {
			ctx, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			_, err := sandbox.Try(ctx, kind)
			if off, ok := errors.AsType[*sandbox.Unavailable](err); ok {
				return off
			}
			return err
		})
	}
	return t
}

// strongest is what a policy's kind is made with: for auto the first kind that works, and
// landlock only if it is accepted. The error says why nothing does.
func (t attempts) strongest(kind, accept string) (wall.Kind, error) {
	ladder := []wall.Kind{wall.Kind(kind)}
	if kind == "auto" {
		ladder = slices.Clip(wall.Confining)
		if accept != "" {
			ladder = append(ladder, wall.Kind(accept))
		}
	}
	var why []string
	for _, k := range ladder {
		err := t[k]()
		if err == nil {
			return k, nil
		}
		why = append(why, err.Error())
	}
	if kind == "auto" && accept == "" && t[wall.Landlock]() == nil {
		why = append(why, `or write accept = "landlock", which works here and holds less`)
	}
	return "", errors.New(strings.Join(why, "; "))
}

// kinds says what each sandbox is made with, and below which directory they all get groups,
// "" if none asks for one. It names those that cannot be made; t tries what can.
func kinds(ctx context.Context, epic *ir.Epic, names []string, instead string, t attempts) (out map[string]wall.Kind, groups string, refused []string) {
	out = map[string]wall.Kind{}
	var unheld map[string]string
	if instead != "none" {
		groups, unheld = Grouped(ctx, lists.Table(names, func(name string) (string, map[string]string) { return name, epic.Sandboxes[name].Limits }))
	}
	no := func(name, why string) { refused = append(refused, fmt.Sprintf("sandbox %q: %s", name, why)) }
	for _, name := range names {
		s := epic.Sandboxes[name]
		switch {
		case instead != "" && s.Required && instead != s.Kind && instead != s.Accept:
			no(name, "--sandbox "+instead+" is refused, because the policy says required = true")
		case instead == "none":
			out[name] = wall.None
		case unheld[name] != "":
			no(name, unheld[name])
		default:
			kind, err := t.strongest(cmp.Or(instead, s.Kind), s.Accept)
			if err == nil && kind == wall.Landlock {
				err = holds(epic, name)
			}
			if err != nil {
				no(name, err.Error())
			} else {
				out[name] = kind
			}
		}
	}
	return out, groups, refused
}

// holds says what a sandbox asks for that landlock does not hold, nil if it is nothing.
func holds(epic *ir.Epic, name string) error {
	s := epic.Sandboxes[name]
	switch {
	case len(s.Hide) > 0:
		return errors.New("landlock can hide nothing: take hide out, and name in read only what may be seen")
	case s.Nest:
		return errors.New("with landlock programs inside cannot make sandboxes of their own: take nest out")
	case s.Limits["tmp"] != "":
		return errors.New("limits.tmp does not hold with landlock: take it out")
	}
	for _, agent := range slices.Sorted(maps.Keys(epic.Agents)) {
		if slices.Contains(inside(epic, agent), name) {
			if err := fits(epic, agent); err != nil {
				return err
			}
		}
	}
	return nil
}

// fits says why an agent's program cannot work in a sandbox of landlock, nil if it can.
func fits(epic *ir.Epic, agent string) error {
	r := epic.Runners[epic.Agents[agent].Runner]
	if r.Kind == "opencode" || r.Kind == "acp" && len(r.Run) > 0 && filepath.Base(r.Run[0]) == "opencode" {
		return fmt.Errorf("with landlock nothing inside can listen, and OpenCode has to (agent %s): give it another program, or use kind = \"namespaces\" or \"bwrap\"", agent)
	}
	return nil
}

// inside are the sandboxes in which an agent works or judges.
func inside(epic *ir.Epic, agent string) (names []string) {
	add := func(c ir.Confined) { names = append(names, c.Name) }
	for n := range lists.Refs(epic.Nodes) {
		for s := range lists.Refs(n.Steps) {
			if s.Agent == agent || slices.Contains(s.Fallback, agent) || s.Stall.Agent == agent {
				add(epic.StepConfined(s, false))
			}
		}
	}
	for name, g := range epic.Gates {
		if g.Agent == agent {
			add(epic.GateConfined(name, false))
			add(epic.GateConfined(name, true))
		}
	}
	if epic.Epic.Integration.ConflictAgent == agent {
		add(epic.StepConfined(&ir.Step{}, true))
	}
	return names
}

// inUse are the sandboxes of an epic that confine something, by name.
func inUse(epic *ir.Epic) []string {
	names := map[string]bool{}
	add := func(c ir.Confined) {
		if c.Name != "" {
			names[c.Name] = true
		}
	}
	for n := range lists.Refs(epic.Nodes) {
		for s := range lists.Refs(n.Steps) {
			if s.Agent != "" {
				add(epic.StepConfined(s, false))
			}
		}
	}
	add(epic.StepConfined(&ir.Step{}, true))
	for name := range epic.Gates {
		add(epic.GateConfined(name, false))
		add(epic.GateConfined(name, true))
	}
	add(epic.SetupConfined())
	return slices.Sorted(maps.Keys(names))
}

// material is what sandboxes are made of: the user's home and caches, and logins.
func material(epic *ir.Epic) (c effects.Confinement, err error) {
	if c.Logins, err = loginsOf(epic); err != nil {
		return c, err
	}
	if c.Home, err = os.UserHomeDir(); err != nil {
		return c, exit.Inputf("a sandbox needs to know your home directory: %w", err)
	}
	below := func(names ...string) string { return filepath.Join(append([]string{c.Home}, names...)...) }
	named := func(usual string, variables ...string) string { // as the tools themselves look for it
		for _, v := range variables {
			if dir := os.Getenv(v); filepath.IsAbs(dir) {
				return dir
			}
		}
		return usual
	}
	add := func(downloads bool, dirs ...string) {
		for _, dir := range dirs {
			if _, err := os.Stat(dir); err == nil || !regular.Within(filepath.Clean(dir), "/usr") { // there nothing can be made to mount on
				c.Caches = append(c.Caches, wall.Cache{Lower: filepath.Clean(dir), Downloads: downloads})
			}
		}
	}
	gopath := named(below("go"), "GOPATH")
	if list := filepath.SplitList(os.Getenv("GOPATH")); len(list) > 1 && filepath.IsAbs(list[0]) {
		gopath = list[0]
	}
	cache, cargo := named(below(".cache"), "XDG_CACHE_HOME"), named(below(".cargo"), "CARGO_HOME")
	npm := named(below(".npm"), "npm_config_cache", "NPM_CONFIG_CACHE")
	add(true, named(filepath.Join(gopath, "pkg", "mod"), "GOMODCACHE"))
	add(false, named(filepath.Join(cache, "go-build"), "GOCACHE"), named(filepath.Join(cache, "uv"), "UV_CACHE_DIR")) // uv refuses a cache that it cannot write to
	add(true, filepath.Join(npm, "_cacache"), named(filepath.Join(cache, "pip"), "PIP_CACHE_DIR"), filepath.Join(cargo, "registry"), filepath.Join(cargo, "git"))
	return c, nil
}
