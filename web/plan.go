package web

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/internal/redact"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/ir"
)

// mostPlan bounds the plan that is shown, in bytes.
const mostPlan = 16 << 20

// compiles keeps the last plan that was compiled: the page asks for one again and again.
type compiles struct {
	mu   sync.Mutex
	of   string // the epic in URLs, and what its files were like
	at   time.Time
	last *compiled
}

// compiled is a plan as it is now, beside epic.json.
type compiled struct {
	file string // of the plan, from the project's top
	text []byte
	*project.Compilation
	cannot string   // why it was not compiled
	given  *ir.Epic // epic.json
	raw    []byte   // its bytes
}

// compiledFor is how long a compile counts although nothing that it is known to read changes.
const compiledFor = 10 * time.Second

// withPlan lets use see the plan of an epic, compiled; one at a time.
func (s *Server) withPlan(ctx context.Context, l *live, use func(*compiled) error) error {
	var given *ir.Epic
	var file string
	l.mu.Lock()
	given, file = l.rec.Given, l.rec.Named()
	l.mu.Unlock()
	k := &s.compiles
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err // it did not wait
	}
	of := l.id + " " + given.Digest + " " + marks(l.repo.Dir, append([]string{file, given.Epic.Plan}, given.Run.Policies...))
	if k.of != of || time.Since(k.at) > compiledFor {
		c, err := compile(l.repo.Dir, file, given)
		if err != nil {
			return err
		}
		k.of, k.at, k.last = of, time.Now(), c
		time.AfterFunc(compiledFor, k.forget)
	}
	return use(k.last)
}

// forget drops what counts no longer: of a large plan it is large.
func (k *compiles) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.last == nil || time.Since(k.at) < compiledFor {
		return
	}
	large := len(k.last.text) > 1<<20
	if k.of, k.last = "", nil; large {
		debug.FreeOSMemory() // it was hundreds of times what the page needs
	}
}

// marks change when files do.
func marks(dir string, files []string) string {
	var b strings.Builder
	for _, f := range files {
		if !filepath.IsAbs(f) {
			f = filepath.Join(dir, filepath.FromSlash(f))
		}
		if st, err := os.Stat(f); err == nil {
			fmt.Fprintf(&b, "%d %d ", st.Size(), st.ModTime().UnixNano())
		}
	}
	return b.String()
}

// compile compiles the plan of an epic again.
func compile(dir, file string, given *ir.Epic) (*compiled, error) {
	out := &compiled{file: given.Epic.Plan, given: given}
	if !filepath.IsLocal(filepath.FromSlash(given.Epic.Plan)) {
		out.cannot = "its plan leaves the project"
		return out, nil
	}
	plan := filepath.Join(dir, filepath.FromSlash(given.Epic.Plan))
	if err := project.Confined(plan); err != nil {
		out.cannot = err.Error()
		return out, nil
	}
	f, err := regular.Open(plan)
	if err != nil {
		out.cannot = "there is no plan " + given.Epic.Plan + " here any more"
		return out, nil
	}
	out.text, err = readAll(f, mostPlan)
	if err != nil {
		out.cannot = fmt.Sprintf("%s: %v", given.Epic.Plan, err)
		return out, nil
	}
	if given.Run.Dialect == "" && !project.HoldsBead(plan) {
		out.cannot = "it was made by ralph import, from other files"
		return out, nil
	}
	if out.raw, err = project.ReadFile(file); err != nil {
		return nil, err
	}
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // commands, which end soon, let garbage lie longer
	a := &project.Args{Plans: []string{plan}, Recorded: given.Run.Dialect, Format: project.FormatJSON, Out: file, Check: true, Recalls: record.RecallClone}
	c, err := a.Compile(strings.NewReader(""))
	if c != nil && c.Project != nil {
		defer c.Project.Close()
	}
	if err != nil {
		out.cannot = err.Error()
		return out, nil
	}
	out.Compilation = c
	return out, nil
}

// readAll reads an open file of at most most bytes, and closes it.
func readAll(f *os.File, most int) (b []byte, err error) {
	defer func() { err = errors.Join(err, f.Close()) }()
	w := &bounded{most: most}
	if _, err = f.WriteTo(w); w.full {
		return nil, regular.ErrLarge
	}
	return w.b, err
}

// plan is an epic's plan as it is now.
func (s *Server) plan(ctx context.Context, l *live, _ *http.Request) (out Plan, err error) {
	var hide *redact.Redactor
	state := map[ir.Key]PlanKey{}
	l.mu.Lock()
	for _, v := range l.views() {
		state[v.Key] = PlanKey{Key: v.Key, Status: v.Status.String(), Word: words.Status(v)}
	}
	hide, name := l.agents().Redact, l.rec.File
	l.mu.Unlock()
	err = s.withPlan(ctx, l, func(c *compiled) error {
		out = Plan{File: c.file, Lines: linesOf(hide.Bytes(c.text)), Keys: []PlanKey{}, Cannot: c.cannot}
		out.Diagnostics.Diagnostics = []project.DiagnosticJSON{}
		if c.Compilation == nil {
			return nil
		}
		out.Diagnostics = c.Sources.JSON(c.Diags)
		if len(c.Results) != 1 {
			return nil
		}
		out.Keys = keysOf(c, state)
		if c.Diags.HasErrors() {
			return nil
		}
		r := c.Results[0]
		if out.Stale = !bytes.Equal(r.JSON, c.raw); out.Stale {
			out.Changes = ir.Diff(c.given, r.Epic)
			out.Text = out.Changes.Summary()
			out.Command = "ralph compile" + record.Onto(name) + " " + words.QuotePath(c.file)
		}
		return nil
	})
	return out, err
}

// keysOf is where the items of a compiled plan stand.
func keysOf(c *compiled, state map[ir.Key]PlanKey) []PlanKey {
	keys := []PlanKey{}
	trace := c.Results[0].Trace
	if trace == nil {
		return keys
	}
	for key, at := range trace.Places() {
		f := c.Files[at.File]
		if f == nil || at.IsZero() {
			continue
		}
		k := state[key]
		k.Key, k.Line = key, f.Position(at.Start).Line
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b PlanKey) int { return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Key, b.Key)) })
	return keys
}

// linesOf cuts a text into lines.
func linesOf(b []byte) []string {
	lines := strings.Split(strings.ToValidUTF8(string(b), "\uFFFD"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSuffix(line, "\r")
	}
	return lines
}

// why says where the values of a sprint come from.
func (s *Server) why(ctx context.Context, l *live, r *http.Request) (out project.WhyJSON, err error) {
	key := ir.Key(r.PathValue("key"))
	err = s.withPlan(ctx, l, func(c *compiled) error {
		switch {
		case c.cannot != "":
			return unknown("%s", c.cannot)
		case len(c.Results) != 1 || c.Results[0].Trace == nil:
			return unknown("the plan has errors: see there")
		}
		reasons, is := c.Results[0].Trace.Why(key, "")
		if !is {
			return unknown("there is no sprint %s in the plan as it is now", key)
		}
		out = c.Sources.Why(key, reasons)
		return nil
	})
	return out, err
}

// next is what the next apply would do.
func (s *Server) next(ctx context.Context, l *live, _ *http.Request) (Next, error) {
	p, err := remembered(ctx, l, "next", 2*time.Second, func(ctx context.Context) (record.PlanJSON, error) {
		leave, err := s.git(ctx)
		if err != nil {
			return record.PlanJSON{}, err
		}
		defer leave()
		file := l.rec.Named() // it does not change
		epic, raw, err := record.Load(file, nil)
		if err != nil {
			return record.PlanJSON{}, err
		}
		r, err := record.OpenAbout(ctx, l.repo.Dir, file, epic)
		if err != nil {
			return record.PlanJSON{}, err
		}
		defer r.Space.Trees.Release()
		p, err := run.PlanOf(ctx, epic, r.Space, r.Run, nil, nil, false)
		if err != nil {
			return p, err
		}
		if r.Held && r.Run.Overview().Open {
			p.AtWork = r.Holder.PID
		}
		if w := run.StaleWarning(file, epic, raw); w != "" {
			p.Warnings = append([]string{w}, p.Warnings...)
		}
		return p, nil
	})
	return Next{PlanJSON: p, Forecast: locked(l, l.foretold)}, err
}
