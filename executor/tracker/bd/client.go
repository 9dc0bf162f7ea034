package bd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/text"
)

// Client calls one bd on one beads database. It may be used concurrently; calls
// wait for each other.
type Client struct {
	Database Database // every call uses it

	program string // absolute path of bd
	dir     string // of the repository, where bd is started
	actor   string // the name that changes carry
	prefix  string // of the ids that will be written
	mark    string // value of Mark

	calls sync.Mutex
	count int // how many there were
}

// Database is the beads database that Open has found, and the bd that opens it.
type Database struct {
	Dir     string // absolute path of the .beads directory
	Version string // of bd, such as "1.3.0"
}

// Missing says that there is no bd, no supported bd, or no beads database, and what to
// type.
type Missing struct {
	Why, Type string
	Untested  bool // there is a bd, of a version that ralph was not tried with
}

func (m *Missing) Error() string { return m.Why + "\n  " + m.Type }

// Refused is bd's answer when it refused a command.
type Refused struct {
	Args []string // of the call, without long texts
	Exit int      // its exit code; -1 if it was killed
	Said string   // one or a few lines
}

func (r *Refused) Error() string { return fmt.Sprintf("bd %s: %s", strings.Join(r.Args, " "), r.Said) }

// exitGuard is bd's exit code for a guard (--if-status) that did not hold.
const exitGuard = 13

// Guarded reports whether err says that a guard failed: another writer was faster.
func Guarded(err error) bool {
	var r *Refused
	return errors.As(err, &r) && r.Exit == exitGuard
}

// Options configure the calls of bd.
type Options struct {
	Program string // path of bd; "" is bd on PATH
	Dir     string // of the repository
	Actor   string // default "ralph"
	Prefix  string // of the ids that will be written, for what is said where there is no database; default "bd"
	Mark    string // a path by which a call is found again whose ralph was killed; "" none
}

// Mark is the variable by which calls left by a killed ralph are found: the next one ends
// them before it checks what was written.
const Mark = "RALPH_TRACKER"

// Open finds bd and the beads database of a repository. It returns *Missing if either
// is missing, with the command that would create it. A bd that ralph was not tried with
// is not run on the database: a newer one changes it when opening it, even to read, and
// older ones refuse it from then on.
func Open(ctx context.Context, o Options) (*Client, error) {
	name := cmp.Or(o.Program, "bd")
	program, err := exec.LookPath(name)
	if err != nil {
		return nil, &Missing{Why: "there is no bd on PATH", Type: "Install beads: https://github.com/steveyegge/beads"}
	}
	if program, err = filepath.Abs(program); err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	c := &Client{program: program, dir: dir, actor: cmp.Or(o.Actor, "ralph"), prefix: cmp.Or(o.Prefix, "bd"), mark: o.Mark}
	var v struct{ Version string }
	if err := c.ask(ctx, quick, &v, "version"); err != nil {
		return nil, err
	}
	c.Database.Version = v.Version
	if err := c.Database.allowed(c.program); err != nil {
		return nil, err
	}
	var where struct {
		Dir string `json:"beads_dir"`
	}
	if err := c.ask(ctx, quick, &where, "context"); err != nil {
		return nil, c.noDatabase(err)
	}
	c.Database.Dir = where.Dir
	return c, nil
}

// InitCommand creates a beads database for ids with a prefix, without touching anything
// else in the repository.
func InitCommand(prefix string) string {
	return "bd init --prefix " + prefix + " --stealth --skip-hooks --skip-agents --non-interactive"
}

// noDatabase is what to do about a repository without a beads database.
func (c *Client) noDatabase(err error) error {
	if r, ok := errors.AsType[*Refused](err); ok {
		return &Missing{Why: fmt.Sprintf("there is no beads database for %s (%s)", c.dir, r.Said), Type: "Make one: " + InitCommand(c.prefix)}
	}
	return err
}

// called is the number of calls of bd.
func (c *Client) called() int {
	c.calls.Lock()
	defer c.calls.Unlock()
	return c.count
}

// quick is the time that a call may take which does not grow with the database. bd
// waits without limit for a database that is busy, so the limit is generous.
const quick = 2 * time.Minute

// Environ is the environment of every call: that of ralph without what would make
// bd report home, ask, back up, or use another database.
func (c *Client) environ() []string {
	out := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return strings.HasPrefix(name, "BD_") || strings.HasPrefix(name, "BEADS_") || strings.HasPrefix(name, "GIT_")
	})
	out = append(out, "BD_JSON_ENVELOPE=1", "BD_NON_INTERACTIVE=1", "BD_DISABLE_METRICS=1", "BD_BACKUP_ENABLED=false", "BEADS_ACTOR="+c.actor, "NO_COLOR=1")
	if c.Database.Dir != "" {
		out = append(out, "BEADS_DIR="+c.Database.Dir)
	}
	out = append(out, process.ToolMark())
	if c.mark != "" {
		out = append(out, Mark+"="+c.mark)
	}
	return out
}

// envelope is what bd puts around its answers.
type envelope struct {
	Version int             `json:"schema_version"`
	Data    json.RawMessage `json:"data"`
	Error   string          `json:"error"`
}

// ask calls bd with --json and decodes the data of its answer into out; nil does not
// look at it.
func (c *Client) ask(ctx context.Context, limit time.Duration, out any, args ...string) error {
	answer, err := c.run(ctx, limit, append(args, "--json")...)
	if err != nil {
		return err
	}
	var e envelope
	if err := json.Unmarshal(answer, &e); err != nil || e.Data == nil {
		return &Refused{short(args), 0, "its answer is not the JSON that was asked for: " + clip(string(answer))}
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(e.Data, out); err != nil {
		return &Refused{short(args), 0, fmt.Sprintf("its answer cannot be read: %v", err)}
	}
	return nil
}

// run calls bd and returns what it wrote to standard output.
func (c *Client) run(ctx context.Context, limit time.Duration, args ...string) ([]byte, error) {
	c.calls.Lock()
	defer c.calls.Unlock()
	c.count++
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.program, args...)
	cmd.Dir, cmd.Env = c.dir, c.environ()
	alone(cmd)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if err == nil {
		return []byte(out.String()), nil
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("bd %s: %w", strings.Join(short(args), " "), context.Cause(ctx))
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return nil, fmt.Errorf("bd: %w", err)
	}
	return nil, &Refused{short(args), exit.ExitCode(), c.Database.explained(said(out.String(), errs.String()))}
}

// said finds what bd complained about: an error in JSON on either stream, else the text
// of standard error.
func said(out, errs string) string {
	for _, text := range []string{out, errs} {
		for at := strings.IndexByte(text, '{'); at >= 0; { // batch writes it over several lines, between lines of text
			var e struct {
				Data struct {
					Error  string
					Failed []struct{ Error string } // of update: what was wrong with each
				}
				Error string
			}
			if json.NewDecoder(strings.NewReader(text[at:])).Decode(&e) == nil && e.Data.Error+e.Error != "" {
				if len(e.Data.Failed) == 1 && e.Data.Failed[0].Error != "" {
					return clip(e.Data.Failed[0].Error)
				}
				return clip(e.Data.Error + e.Error)
			}
			next := strings.Index(text[at:], "\n{")
			if next < 0 {
				break
			}
			at += next + 1
		}
	}
	if strings.TrimSpace(errs) == "" {
		return clip(out)
	}
	return clip(errs)
}

// short is a call's arguments without what would fill a message.
func short(args []string) []string {
	out := slices.Clone(args)
	for i, a := range out {
		if len(a) > 60 || strings.Contains(a, "\n") || strings.HasPrefix(a, "@/") {
			out[i] = "…"
		}
	}
	return out
}

func clip(s string) string { return text.Clip(text.OneLine(s), 400) }
