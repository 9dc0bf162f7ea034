package opencode

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/regular"
)

// plan is how a server is started, and what tells it from others.
type plan struct {
	argv    []string
	env     []string // without what differs from turn to turn
	content string   // OPENCODE_CONFIG_CONTENT, as the runner's environment has it
	off     []string // MCP servers that are turned off
	keep    string
	home    string       // that a sandbox shows; "" is the user's
	only    *runner.Turn // whose sandbox the server runs in: it serves no other; nil: there is none
}

func (p plan) key() string {
	b, _ := json.Marshal([]any{p.argv, p.env, p.content, p.off, p.keep, p.home}) // texts always can
	return fmt.Sprintf("%x", sha256.Sum256(b))
}

// planOf is the server that a turn needs, and the variables that only its own
// shells get.
func (c *Runner) planOf(r executor.AgentRun) (plan, map[string]string, error) {
	argv, env, err := c.Base.Program(r, nil, program)
	if err != nil {
		return plan{}, nil, err
	}
	p := plan{argv: argv, keep: r.Keep}
	if r.Wall != nil {
		p.home = r.Wall.Home
	}
	vars := map[string]string{}
	usual := runner.OpenCodeAlone()
	usual["OPENCODE_DISABLE_AUTOUPDATE"], usual["OPENCODE_DISABLE_MODELS_FETCH"] = "1", "1"
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		delete(usual, name)
		switch {
		case strings.HasPrefix(name, "RALPH_"):
			vars[name] = value
		case name == contentVar:
			p.content = value
		case name == passwordVar, name == userVar, name == "TMPDIR":
		default:
			p.env = append(p.env, v)
		}
	}
	for name, v := range usual {
		p.env = append(p.env, name+"="+v)
	}
	slices.Sort(p.env)
	return p, vars, nil
}

// slot is the place of a plan's server, present or future.
type slot struct {
	ready chan struct{} // closed when s or err is there
	s     *server
	err   error
}

// acquire returns a server for a turn of r, at which no MCP servers of the user's
// are on in r.Dir. It is to be released.
func (c *Runner) acquire(ctx context.Context, p plan, r executor.AgentRun) (*server, error) {
	base, find := p.key(), c.shared
	if p.only != nil {
		find = c.own
	}
	for range 4 {
		c.mu.Lock()
		p.off = slices.Clone(c.off[base])
		c.mu.Unlock()
		s, err := find(ctx, p, r)
		if err != nil {
			return nil, err
		}
		conf, err := get[config](ctx, s.in(r.Dir), "/config")
		if err != nil {
			c.release(s)
			return nil, s.failure(err)
		}
		on := conf.enabled()
		if len(on) == 0 {
			return s, nil
		}
		// It has started none of them yet: that happens with the first prompt.
		c.mu.Lock()
		all := append(slices.Clone(c.off[base]), on...)
		slices.Sort(all)
		all = slices.Compact(all)
		few := len(all) <= maxServers && !slices.ContainsFunc(all, func(name string) bool { return len(name) > maxID })
		if few {
			c.off[base] = all
		}
		c.mu.Unlock()
		c.release(s)
		if !few {
			return nil, runner.Configuration(fmt.Errorf("opencode: its configuration names more than %d MCP servers, or one with a name of more than %d bytes", maxServers, maxID))
		}
	}
	return nil, runner.Configuration(fmt.Errorf("opencode: MCP servers of its configuration cannot be turned off in %s", r.Dir))
}

// own starts a server for one turn: it ends with its release. Close waits for its start.
func (c *Runner) own(ctx context.Context, p plan, r executor.AgentRun) (*server, error) {
	key, at := fmt.Sprintf("%p", p.only), &slot{ready: make(chan struct{})}
	c.mu.Lock()
	err := c.opened()
	if err == nil {
		c.slots[key] = at
	}
	c.mu.Unlock()
	if err != nil {
		return nil, err
	}
	at.s, at.err = c.open(ctx, p, r)
	c.mu.Lock()
	defer c.mu.Unlock()
	defer close(at.ready)
	delete(c.slots, key)
	if at.s != nil {
		at.s.users, at.s.lost, at.s.dirs[r.Dir] = 1, true, true
		c.servers[at.s] = true
	}
	return at.s, at.err
}

// opened makes the Runner's maps; it is an error once it is closed. The lock is held.
func (c *Runner) opened() error {
	if c.closed {
		return &executor.Failure{Class: executor.FailInterrupted, Err: errors.New("opencode: the runner is closed")}
	}
	if c.slots == nil {
		c.slots, c.servers, c.off = map[string]*slot{}, map[*server]bool{}, map[string][]string{}
	}
	return nil
}

// shared returns the server of a plan and counts one user more.
func (c *Runner) shared(ctx context.Context, p plan, r executor.AgentRun) (*server, error) {
	key := p.key()
	for {
		c.mu.Lock()
		if err := c.opened(); err != nil {
			c.mu.Unlock()
			return nil, err
		}
		at, ok := c.slots[key]
		if !ok {
			at = &slot{ready: make(chan struct{})}
			c.slots[key] = at
		}
		c.mu.Unlock()
		if !ok {
			at.s, at.err = c.open(ctx, p, r)
			c.mu.Lock()
			if at.s != nil && c.servers != nil {
				c.servers[at.s] = true
			}
			c.mu.Unlock()
			close(at.ready)
		}
		select {
		case <-at.ready:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		c.mu.Lock()
		usable := at.err == nil && !at.s.lost && !at.s.ended() && !at.s.full(r.Dir)
		switch {
		case usable:
			at.s.users++
			at.s.dirs[r.Dir] = true
		case c.slots[key] == at:
			delete(c.slots, key) // a server that is full ends with its last user
			if at.s != nil {
				at.s.lost = true
			}
		}
		c.mu.Unlock()
		c.sweep()
		switch {
		case usable:
			return at.s, nil
		case !ok && at.err != nil:
			return nil, at.err
		case ctx.Err() != nil:
			return nil, ctx.Err()
		}
		// It is gone, or its starter gave up: another one.
	}
}

// open starts a server in a directory of its own. Servers that start together on one
// fresh database, or on that of an older version, each migrate it, and all but one of
// them die of it: they start again.
func (c *Runner) open(ctx context.Context, p plan, r executor.AgentRun) (*server, error) {
	for try := 1; ; try++ {
		dir, mark, err := c.place(r)
		if err != nil {
			return nil, err
		}
		s, err := c.start(ctx, p, dir, mark)
		if err == nil || try == startTries || !locked.MatchString(err.Error()) {
			return s, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// startTries is how often a server is started that dies of its database.
const startTries = 4

// locked is how a server ends whose database another one is migrating or writing to.
var locked = lazyregexp.New(`Failed query|database is locked|SQLITE_BUSY`)

// place makes a directory for a server, and the mark of its processes.
func (c *Runner) place(r executor.AgentRun) (dir, mark string, err error) {
	if r.Keep == "" {
		dir, err := regular.MkdirTemp("ralph-opencode-")
		return dir, filepath.Join(r.Files, "opencode"), err
	}
	c.stale.Do(func() { clean(r.Keep) })
	if err := regular.MkdirOwn(r.Keep); err != nil {
		return "", "", err
	}
	dir, err = os.MkdirTemp(r.Keep, "opencode-"+strconv.Itoa(os.Getpid())+"-")
	return dir, filepath.Join(dir, "server"), err
}

// clean removes what servers of a dead ralph left. They are killed by their mark.
func clean(keep string) {
	all, _ := filepath.Glob(filepath.Join(keep, "opencode-*-*"))
	for _, dir := range all {
		pid, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), "opencode-"), "-")
		if n, err := strconv.Atoi(pid); err == nil && !alive(n) {
			_ = regular.RemoveAllOwn(dir) // tried again at the next start
		}
	}
}

// idleServers is how many unused servers are kept: environments differ
// where policy says so, and each server holds some hundred megabytes.
const idleServers = 2

// release gives a server back.
func (c *Runner) release(s *server) {
	c.mu.Lock()
	s.users--
	s.used = time.Now()
	c.mu.Unlock()
	c.sweep()
}

// sweep ends the servers that are of no more use, and unused ones, but
// for the last few.
func (c *Runner) sweep() {
	c.mu.Lock()
	var idle, end []*server
	for s := range c.servers {
		switch {
		case s.users > 0:
		case s.ended(), s.lost && !s.lent:
			end = append(end, s)
		case !s.lent:
			idle = append(idle, s)
		}
	}
	slices.SortFunc(idle, func(a, b *server) int { return b.used.Compare(a.used) })
	end = append(end, idle[min(idleServers, len(idle)):]...)
	for _, s := range end {
		s.lost = true
		delete(c.servers, s)
	}
	c.mu.Unlock()
	for _, s := range end {
		s.end()
	}
}

// Close ends all servers, also those where a person has a session, and returns when
// nothing of them is left. The Runner cannot be used afterwards.
func (c *Runner) Close() error {
	c.mu.Lock()
	c.closed = true
	slots := c.slots
	c.slots = nil
	c.mu.Unlock()
	for _, at := range slots {
		<-at.ready
	}
	c.mu.Lock()
	all := slices.Collect(maps.Keys(c.servers))
	c.servers = nil
	c.mu.Unlock()
	for _, s := range all {
		s.cancel()
	}
	for _, s := range all {
		s.end()
	}
	c.wg.Wait()
	return nil
}

// maxDirs is in how many directories a server works. It keeps what it knows of each,
// some fifty megabytes, and does not give that back when it is asked to.
const maxDirs = 24

// full reports whether a directory is one too many. The Runner's lock is held.
func (s *server) full(dir string) bool { return len(s.dirs) >= maxDirs && !s.dirs[dir] }

// ended reports whether the server's process is gone.
func (s *server) ended() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// retire says that a server is of no use any more: it ends with its last user.
func (c *Runner) retire(s *server) {
	c.mu.Lock()
	s.lost = true
	c.mu.Unlock()
}

// lend says that a person has a session of the server: it stays until Close.
func (c *Runner) lend(s *server) {
	c.mu.Lock()
	s.lent = true
	c.mu.Unlock()
}
