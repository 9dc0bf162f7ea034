package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// With says which texts a report holds beside what ralph says of a run: they may be nobody
// else's business.
type With struct {
	Prompts bool // the plan, and what agents were told
	Logs    bool // what agents and gates wrote
	Diffs   bool // what sprints and attempts changed
}

// MostReport bounds a report, in bytes.
const MostReport = 10 << 20

const (
	mostReported = 1 << 20   // bytes of a file in a report: its end
	mostPages    = 20        // of the journal in a report
	perPart      = 256 << 10 // bytes of answers about sprints that are packed together
)

// Report is the page about a run as it is now, as one HTML file that needs no server. It
// has at most most bytes; omitted names what it lacks.
//
// It holds the answers of the server's own routes, read by a second build of the same page.
// Secrets are redacted, and paths of this machine begin at the repository or at ~.
func Report(ctx context.Context, r *record.Record, with With, most int) (page []byte, omitted []string, err error) {
	f, err := freeze(ctx, r, with)
	if err != nil {
		return nil, nil, err
	}
	defer f.close()
	head, err := f.frame()
	if err != nil {
		return nil, nil, err
	}
	f.left = most - head
	f.whole(ctx)
	f.sprints(ctx)
	page, err = f.bind()
	return page, f.omitted, err
}

// frozen collects the answers about one epic.
type frozen struct {
	with    With
	live    *live
	server  *Server
	mux     *http.ServeMux
	clean   func([]byte) []byte
	epic    string // path of the epic in the API
	left    int    // bytes that the report may still take
	parts   [][]byte
	of      map[ir.Key][]int // parts that hold a sprint
	events  map[ir.NodeID][]executor.Event
	result  []byte // answer to …/result
	omitted []string
}

func freeze(ctx context.Context, r *record.Record, with With) (*frozen, error) {
	at, err := record.RepositoryOf(ctx, r.Space.Top())
	if err != nil {
		return nil, err
	}
	repo := &repository{Repository: at, id: record.PageRepository(at.Git)}
	l := newLive(repo, record.Still(r))
	h := &house{repos: []*repository{repo}, lives: map[string]*live{l.id: l}, order: []string{l.id}, moved: make(chan struct{})}
	f := &frozen{
		with: with, live: l, mux: http.NewServeMux(), epic: "/epics/" + url.PathEscape(l.id), of: map[ir.Key][]int{},
		server: &Server{house: h, readOnly: true, kept: map[string]made{}, diffs: make(chan struct{}, 1)},
	}
	for _, route := range routes() {
		if !route.writes && !route.free {
			f.mux.HandleFunc(route.method+" "+base+route.path, func(w http.ResponseWriter, r *http.Request) { route.serve(f.server, w, r) })
		}
	}
	hide, short := l.agents().Redact, shorter(at)
	f.clean = func(b []byte) []byte { return short(hide.Bytes(b)) }
	f.events = map[ir.NodeID][]executor.Event{}
	for _, e := range r.Events {
		f.events[e.Node] = append(f.events[e.Node], e)
	}
	l.foretold()
	l.foretell(ctx)
	return f, nil
}

func (f *frozen) close() { f.live.dismiss() }

// answered takes an answer.
type answered struct {
	header http.Header
	status int
	bytes.Buffer
}

func (a *answered) Header() http.Header    { return a.header }
func (a *answered) WriteHeader(status int) { a.status = status }

// get is the answer to a path of the API, as the report holds it; nil if there is none.
func (f *frozen) get(ctx context.Context, path string, header ...string) []byte {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+path, http.NoBody)
	if err != nil {
		return nil
	}
	if len(header) == 2 {
		r.Header.Set(header[0], header[1])
	}
	a := &answered{header: http.Header{}, status: http.StatusOK}
	if f.mux.ServeHTTP(a, r); a.status >= 300 {
		return nil
	}
	return f.clean(a.Bytes())
}

// lines are answers by path, as a part of a report has them.
type lines struct{ bytes.Buffer }

func (l *lines) put(path string, answer []byte) {
	if answer != nil {
		fmt.Fprintf(l, "%s %s\n", path, bytes.ReplaceAll(answer, []byte("\n"), nil)) // JSON has none in its strings
	}
}

// add packs a part, unless it is too large; it returns its number.
func (f *frozen) add(part []byte) (number int, fits bool) {
	packed := pack(part)
	if len(packed) > f.left {
		return 0, false
	}
	f.left -= len(packed)
	f.parts = append(f.parts, packed)
	return len(f.parts) - 1, true
}

// whole takes what is about no single sprint. What a reader needs first is always there.
func (f *frozen) whole(ctx context.Context) {
	var out lines
	for _, path := range []string{"/session", "/repos", "/inbox", f.epic, f.epic + "/status", f.epic + "/graph", f.epic + "/cost", f.epic + "/trust"} {
		out.put(path, f.get(ctx, path))
	}
	f.result = f.get(ctx, f.epic+"/result")
	out.put(f.epic+"/result", f.result)
	room := f.left/2 - len(pack(out.Bytes())) // the other half is for sprints
	also := func(what string, paths map[string][]byte) {
		var more lines
		for path, answer := range paths {
			more.put(path, answer)
		}
		size := len(pack(more.Bytes()))
		if size > room {
			f.omitted = append(f.omitted, what)
			return
		}
		room -= size
		out.Write(more.Bytes())
	}
	also("the graph of attempts", map[string][]byte{f.epic + "/runs": f.get(ctx, f.epic+"/runs")})
	also("the timeline", map[string][]byte{f.epic + "/timeline": f.get(ctx, f.epic+"/timeline")})
	if f.with.Prompts {
		also("the plan", map[string][]byte{f.epic + "/plan": f.get(ctx, f.epic+"/plan")})
	}
	also("the journal", f.journal(ctx))
	packed := pack(out.Bytes())
	f.left -= len(packed)
	f.parts = append(f.parts, packed)
}

// journal is the journal in the pages that the page asks for.
func (f *frozen) journal(ctx context.Context) map[string][]byte {
	out := map[string][]byte{}
	path := f.epic + "/log?limit=100"
	for range mostPages {
		out[path] = f.get(ctx, path)
		var page Log
		if json.Unmarshal(out[path], &page) != nil || page.Before == 0 {
			return out
		}
		path = fmt.Sprintf("%s/log?limit=100&before=%d", f.epic, page.Before)
	}
	f.omitted = append(f.omitted, "the oldest events of the journal")
	return out
}

// sprints takes the sprints: those that wait or failed first. Their files come last.
func (f *frozen) sprints(ctx context.Context) {
	views := slices.Clone(f.live.views())
	slices.SortStableFunc(views, func(a, b machine.NodeView) int { return cmp.Compare(urgency(a), urgency(b)) })
	if n := f.bundle(views, func(v machine.NodeView, out *lines) { f.sprint(ctx, v, out) }); n > 0 {
		f.omitted = append(f.omitted, "the details of "+text.Count(n, "sprint"))
	}
	if f.with == (With{}) {
		return
	}
	if n := f.bundle(views, func(v machine.NodeView, out *lines) { f.files(ctx, v, out) }); n > 0 {
		f.omitted = append(f.omitted, "prompts, logs or diffs of "+text.Count(n, "sprint"))
	}
}

func urgency(v machine.NodeView) int {
	switch {
	case record.WaitsForPerson(v):
		return 0
	case failed(v):
		return 1
	case v.Status == executor.Running:
		return 2
	}
	return 3
}

// bundle packs what take says of sprints, many in a part, while there is room. It returns
// how many are left out.
func (f *frozen) bundle(views []machine.NodeView, take func(machine.NodeView, *lines)) (left int) {
	var part lines
	from := 0
	for i, v := range views {
		if take(v, &part); part.Len() < perPart && i < len(views)-1 {
			continue
		}
		if part.Len() > 0 {
			number, fits := f.add(part.Bytes())
			if !fits {
				return len(views) - from
			}
			for _, v := range views[from : i+1] {
				f.of[v.Key] = append(f.of[v.Key], number)
			}
		}
		from = i + 1
		part.Reset()
	}
	return 0
}

// sprint takes what the page says about a sprint.
func (f *frozen) sprint(ctx context.Context, v machine.NodeView, out *lines) {
	path, key := f.epic+"/nodes/"+url.PathEscape(string(v.Key)), url.QueryEscape(string(v.Key))
	if s, err := f.live.sprint(v.Key); err == nil {
		out.put(path, f.clean(mustJSON(f.shown(s))))
	}
	out.put(path+"/why", f.get(ctx, path+"/why"))
	out.put(f.epic+"/log?limit=100&key="+key, f.clean(mustJSON(f.live.log(f.events[v.ID], 0, v.ID, 100))))
}

// shown is a sprint as a report has it: nothing is being written, and its prompt is left out
// if it is not asked for.
func (f *frozen) shown(s Sprint) Sprint {
	s.Tail = nil
	if s.Show.Spec != nil && !f.with.Prompts {
		spec := *s.Show.Spec
		spec.Prompt = nil
		s.Show.Spec = &spec
	}
	return s
}

// files takes what the attempts of a sprint have left.
func (f *frozen) files(ctx context.Context, v machine.NodeView, out *lines) {
	path := f.epic + "/nodes/" + url.PathEscape(string(v.Key))
	if f.with.Diffs && len(v.Attempts) > 0 {
		out.put(path+"/diff", f.get(ctx, path+"/diff"))
	}
	for _, a := range v.Attempts {
		at := fmt.Sprintf("%s/attempts/%s/%d", path, url.PathEscape(a.Step), a.Number)
		if f.with.Diffs {
			out.put(at+"/diff", f.get(ctx, at+"/diff"))
		}
		var list FileList
		if json.Unmarshal(f.get(ctx, at+"/files"), &list) != nil {
			continue
		}
		list.Files = slices.DeleteFunc(list.Files, func(x FileLine) bool {
			if x.What == "prompt" {
				return !f.with.Prompts
			}
			return !f.with.Logs
		})
		for i := range list.Files {
			x := &list.Files[i]
			name := at + "/files/" + strings.ReplaceAll(url.PathEscape(x.Name), "%2F", "/")
			end := f.get(ctx, name, "Range", fmt.Sprintf("bytes=-%d", mostReported))
			if cut := x.Size - mostReported; cut > 0 {
				end = append(fmt.Appendf(nil, "(%d bytes before this are not in the report)\n", cut), end...)
			}
			x.Size = int64(len(end))
			out.put(name, mustJSON(string(end)))
		}
		if f.with.Prompts || f.with.Logs {
			out.put(at+"/files", mustJSON(list))
		}
	}
}

// about is what the page has to know before it reads a part.
func (f *frozen) about() []byte {
	return mustJSON(struct {
		At      time.Time        `json:"at"`
		Omitted []string         `json:"omitted"`
		Parts   map[ir.Key][]int `json:"parts"`
	}{f.live.rec.Now.UTC(), orEmpty(f.omitted), f.of})
}
