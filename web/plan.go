package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/redact"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/ir"
)

// mostPlan bounds the plan that is shown, in bytes.
const mostPlan = 16 << 20

// compiles keeps what plans compile to. Its mutex guards what is below it: one plan is compiled
// at a time.
type compiles struct {
	mu    sync.Mutex
	plans map[string]*planned // by epic in URLs
}

// planned is what is kept of a compile: the plan as it is shown, but for the states of its
// sprints, and where their values come from.
type planned struct {
	compileOf
	Plan
	origins
}

// compileOf is what a compile was of.
type compileOf struct {
	epic   string // in URLs
	digest string // of epic.json
	files  []string
	mark   string // of the files
}

// is reports whether the same is compiled again. The files are looked at.
func (c *compileOf) is(l *live, given *ir.Epic) bool {
	if c.epic != l.id || c.digest != given.Digest || c.mark == "" {
		return false
	}
	mark, _ := marks(l.repo.Dir, c.files)
	return mark == c.mark
}

// compiled is a plan as it is now, beside epic.json.
type compiled struct {
	compileOf
	file string // of the plan, from the project's top
	text []byte
	*project.Compilation
	cannot string   // why it was not compiled
	given  *ir.Epic // epic.json
	stale  bool     // it compiles to another one
}

// largePlan is of how many bytes a plan's compile leaves hundreds of megabytes.
const largePlan = 1 << 20

// planned compiles the plan of an epic, if it has changed.
func (s *Server) planned(ctx context.Context, l *live) (*planned, error) {
	l.mu.Lock()
	given, hide, name := l.rec.Given, l.agents().Redact, l.rec.File
	l.mu.Unlock()
	k := &s.compiles
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err // it did not wait
	}
	if p := k.plans[l.id]; p != nil && p.is(l, given) {
		return p, nil
	}
	delete(k.plans, l.id)
	c, err := compile(l, given)
	if err != nil {
		return nil, err
	}
	if len(c.text) > largePlan {
		defer debug.FreeOSMemory()
	}
	p := &planned{compileOf: c.compileOf}
	if p.Plan, err = planOf(c, hide, name); err != nil {
		return nil, err
	}
	if p.origins, err = originsOf(c); err != nil {
		return nil, err
	}
	if k.plans == nil {
		k.plans = map[string]*planned{}
	}
	k.plans[l.id] = p
	return p, nil
}

// compile compiles the plan of an epic again.
func compile(l *live, given *ir.Epic) (*compiled, error) {
	dir, began, read := l.repo.Dir, time.Now(), reads{names: map[string]bool{}}
	out := &compiled{file: given.Epic.Plan, given: given, compileOf: compileOf{epic: l.id, digest: given.Digest}}
	defer func() {
		out.files = read.sorted(out.file, l.rec.Named()) // that does not change
		if mark, newest := marks(dir, out.files); newest.Before(began) {
			out.mark = mark // else it is not known which of two was read
		}
	}()
	if !filepath.IsLocal(filepath.FromSlash(out.file)) {
		out.cannot = "its plan leaves the project"
		return out, nil
	}
	plan := filepath.Join(dir, filepath.FromSlash(out.file))
	if err := project.Confined(plan); err != nil {
		out.cannot = err.Error()
		return out, nil
	}
	f, err := regular.Open(plan)
	if err != nil {
		out.cannot = "there is no plan " + out.file + " here any more"
		return out, nil
	}
	out.text, err = readAll(f, mostPlan)
	if err != nil {
		out.cannot = fmt.Sprintf("%s: %v", out.file, err)
		return out, nil
	}
	if given.Run.Dialect == "" && !project.HoldsBead(plan) {
		out.cannot = "it was made by ralph import, from other files"
		return out, nil
	}
	a := &project.Args{Plans: []string{plan}, Recorded: given.Run.Dialect, Format: project.FormatJSON, Out: l.rec.Named(), Check: true}
	a.Recalls = func(a *project.Args, p *project.Project, in *compiler.Input) {
		record.RecallClone(a, p, in)
		read.FS = in.Project
		in.Project = read
	}
	c, err := a.Compile(strings.NewReader(""))
	if c != nil && c.Project != nil {
		defer c.Project.Close()
	}
	if err != nil {
		out.cannot = err.Error()
		return out, nil
	}
	out.Compilation = c
	if len(c.Results) == 1 && !c.Diags.HasErrors() {
		out.stale, err = differs(l.rec.Named(), c.Results[0].JSON)
	}
	return out, err
}

// differs reports whether a file holds anything but some bytes.
func differs(file string, b []byte) (bool, error) {
	f, err := regular.Open(file)
	if err != nil {
		return false, err
	}
	defer f.Close()
	part := make([]byte, 64<<10)
	for {
		n, err := f.Read(part)
		if !bytes.HasPrefix(b, part[:n]) {
			return true, nil
		}
		b = b[n:]
		if errors.Is(err, io.EOF) {
			return len(b) > 0, nil
		}
		if err != nil {
			return false, err
		}
	}
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
func (s *Server) plan(ctx context.Context, l *live, _ *http.Request) (Plan, error) {
	state := map[ir.Key]PlanKey{}
	l.mu.Lock()
	for _, v := range l.views() {
		k := PlanKey{Status: v.Status.String(), Shown: words.Shown(v), Word: words.Status(v), Human: record.WaitsForPerson(v)}
		switch v.Status {
		case executor.Done, executor.Skipped, executor.Cancelled: // it is edited no more
		default:
			k.Open = words.ShowCommand(v.Key, "--open", l.rec.About())
		}
		state[v.Key] = k
	}
	l.mu.Unlock()
	p, err := s.planned(ctx, l)
	if err != nil {
		return Plan{}, err
	}
	out := p.Plan
	out.Keys = slices.Clone(out.Keys)
	for i := range out.Keys {
		k := state[out.Keys[i].Key]
		k.Line, k.Key = out.Keys[i].Line, out.Keys[i].Key
		out.Keys[i] = k
	}
	return out, nil
}

// planOf is what a plan compiles to, without secrets, but for the states of its sprints; name
// is the epic's file for commands.
func planOf(c *compiled, hide *redact.Redactor, name string) (out Plan, err error) {
	out = Plan{File: c.file, Lines: linesOf(hide.Bytes(c.text)), Keys: []PlanKey{}, Cannot: hide.String(c.cannot)}
	out.Diagnostics.Diagnostics = []project.DiagnosticJSON{}
	if c.Compilation == nil {
		return out, nil
	}
	if out.Diagnostics, err = hidden(hide, c.Sources.JSON(c.Diags)); err != nil || len(c.Results) != 1 {
		return out, err
	}
	out.Keys = keysOf(c)
	if out.Stale = c.stale; !out.Stale {
		return out, nil
	}
	changes := ir.Diff(c.given, c.Results[0].Epic)
	out.Text = hide.String(changes.Summary())
	out.Command = "ralph compile" + record.Onto(name) + " " + words.QuotePath(c.file)
	out.Changes, err = hidden(hide, changes)
	return out, err
}

// keysOf is where the items of a compiled plan stand.
func keysOf(c *compiled) []PlanKey {
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
		keys = append(keys, PlanKey{Key: key, Line: f.Position(at.Start).Line})
	}
	slices.SortFunc(keys, func(a, b PlanKey) int { return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Key, b.Key)) })
	return keys
}

// hidden is a value without secrets, as JSON has it.
func hidden[T any](hide *redact.Redactor, v T) (out T, err error) {
	b, err := json.Marshal(v)
	if err != nil {
		return out, err
	}
	err = json.Unmarshal(hide.Bytes(b), &out)
	return out, err
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
	p, err := s.planned(ctx, l)
	if err == nil {
		out, err = p.why(ir.Key(r.PathValue("key")))
	}
	if err != nil {
		return out, err
	}
	return hidden(locked(l, func() *redact.Redactor { return l.agents().Redact }), out)
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
