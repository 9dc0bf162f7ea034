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

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/regular"
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
const MostReport = 10_000_000

const (
	mostReported = 1 << 20   // bytes of a file in a report: its end
	mostPages    = 20        // of the journal in a report
	inPage       = 100       // events: as the page asks for them
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
	if err := f.whole(ctx); err != nil {
		return nil, nil, err
	}
	if err := f.sprints(ctx); err != nil {
		return nil, nil, err
	}
	page, err = f.bind()
	return page, f.omitted, err
}

// frozen collects the answers about one epic.
type frozen struct {
	with    With
	live    *live
	server  *Server
	mux     *http.ServeMux
	text    func(string) string // without secrets and paths of this machine
	epic    string              // path of the epic in the API
	left    int                 // bytes that the report may still take
	parts   [][]byte
	of      map[ir.Key][]int // parts that hold a sprint
	events  map[ir.NodeID][]executor.Event
	result  []byte // answer to …/result
	data    *reportData
	short   bool // a sprint has more events than its page
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
		with: with, live: l, mux: http.NewServeMux(), epic: "/epics/" + component(l.id), of: map[ir.Key][]int{},
		server: &Server{house: h, readOnly: true, kept: map[string]made{}, diffs: make(chan struct{}, 1)},
	}
	for _, route := range routes() {
		if !route.writes && !route.free {
			f.mux.HandleFunc(route.method+" "+base+route.path, func(w http.ResponseWriter, r *http.Request) { route.serve(f.server, w, r) })
		}
	}
	hide, short := l.agents().Redact, shorter(at)
	f.text = func(s string) string { return short(hide.String(s)) }
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

// get is the answer to a path of the API, as the report holds it; with !, why there is none.
func (f *frozen) get(ctx context.Context, path string) []byte {
	body, status := f.ask(ctx, path, "")
	if status < 300 {
		return inJSON(body, f.text)
	}
	if json.Valid(body) {
		return append([]byte("!"), inJSON(body, f.text)...)
	}
	return append([]byte("!"), mustJSON(Fault{Error: f.text(string(body)), Reason: "broken"})...)
}

// ask is the answer to a path of the API, or to a range of it.
func (f *frozen) ask(ctx context.Context, path, ranges string) (body []byte, status int) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+path, http.NoBody)
	if err != nil {
		return []byte(err.Error()), http.StatusBadRequest
	}
	if ranges != "" {
		r.Header.Set("Range", ranges)
	}
	a := &answered{header: http.Header{}, status: http.StatusOK}
	f.mux.ServeHTTP(a, r)
	return a.Bytes(), a.status
}

// frozenJSON is a value as a report holds it.
func (f *frozen) frozenJSON(v any) []byte { return inJSON(mustJSON(v), f.text) }

// lines are answers by path, as a part of a report has them.
type lines struct{ bytes.Buffer }

func (l *lines) put(path string, answer []byte) {
	fmt.Fprintf(l, "%s %s\n", path, bytes.ReplaceAll(answer, []byte("\n"), nil)) // JSON has none in its strings
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
func (f *frozen) whole(ctx context.Context) error {
	var out lines
	session, err := f.server.session()
	if err != nil {
		return err
	}
	if s, is := session.(Session); is {
		s.User = "" // who made the report decides nothing in it
		out.put("/session", f.frozenJSON(s))
	}
	for _, path := range []string{"/repos", "/inbox", f.epic, f.epic + "/status", f.epic + "/graph", f.epic + "/cost", f.epic + "/trust"} {
		out.put(path, f.get(ctx, path))
	}
	f.result = f.get(ctx, f.epic+"/result")
	out.put(f.epic+"/result", f.result)
	room := f.left/2 - len(pack(out.Bytes())) // the other half is for sprints
	for _, x := range f.extras(ctx) {
		size := len(pack(x.Bytes()))
		if size > room {
			f.omitted = append(f.omitted, x.what)
			continue
		}
		room -= size
		out.Write(x.Bytes())
	}
	if _, fits := f.add(out.Bytes()); !fits {
		return exit.Inputf("this epic is too large for a report of %d MB; ralph ui shows it", MostReport/1_000_000)
	}
	return nil
}

// extra is what a report may lack.
type extra struct {
	what string
	lines
}

func (f *frozen) extras(ctx context.Context) []*extra {
	runs, timeline, plan := &extra{what: "the graph of attempts"}, &extra{what: "the timeline"}, &extra{what: "the plan"}
	runs.put(f.epic+"/runs", f.get(ctx, f.epic+"/runs"))
	timeline.put(f.epic+"/timeline", f.get(ctx, f.epic+"/timeline"))
	out := []*extra{runs, timeline}
	if f.with.Prompts {
		plan.put(f.epic+"/plan", f.get(ctx, f.epic+"/plan"))
		out = append(out, plan)
	}
	return append(out, f.journal())
}

// journal is the journal in the pages that the page asks for.
func (f *frozen) journal() *extra {
	out := &extra{what: "the journal"}
	for before, left := int64(0), mostPages; ; left-- {
		page, path := f.live.log(f.live.rec.Events, wanted{before: before, limit: inPage}), fmt.Sprintf("%s/log?limit=%d", f.epic, inPage)
		if before > 0 {
			path += fmt.Sprintf("&before=%d", before)
		}
		if before = page.Before; left == 1 {
			page.Before = 0
		}
		if out.put(path, f.frozenJSON(page)); before == 0 {
			return out
		}
		if left == 1 {
			f.omitted = append(f.omitted, "the oldest events of the journal")
			return out
		}
	}
}

// sprints takes the sprints: those that wait or failed first. Their files come last.
func (f *frozen) sprints(ctx context.Context) error {
	views := slices.Clone(f.live.views())
	slices.SortStableFunc(views, func(a, b machine.NodeView) int { return cmp.Compare(urgency(a), urgency(b)) })
	p, err := f.server.planned(ctx, f.live)
	if err != nil { // without its plan it is not known where values come from
		p = &planned{origins: origins{none: err.Error()}}
	}
	if n := f.bundle(views, func(v machine.NodeView, out *lines) { f.sprint(p, v, out) }); n > 0 {
		f.omitted = append(f.omitted, "the details of "+text.Count(n, "sprint"))
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if f.short {
		f.omitted = append(f.omitted, fmt.Sprintf("all but the last %d events of a sprint", inPage))
	}
	if f.with == (With{}) {
		return nil
	}
	if n := f.bundle(views, func(v machine.NodeView, out *lines) { f.files(ctx, v, out) }); n > 0 {
		f.omitted = append(f.omitted, "prompts, logs or diffs of "+text.Count(n, "sprint"))
	}
	return ctx.Err()
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

// bundle packs what take says of sprints, many in a part, as long as there is room for it. It
// returns how many are left out.
func (f *frozen) bundle(views []machine.NodeView, take func(machine.NodeView, *lines)) (left int) {
	var part lines
	var ends []int // of each sprint in the part
	for i, v := range views {
		take(v, &part)
		if ends = append(ends, part.Len()); part.Len() < perPart && i < len(views)-1 {
			continue
		}
		left += f.put(views[i+1-len(ends):i+1], part.Bytes(), ends)
		part.Reset()
		ends = ends[:0]
	}
	return left
}

// put packs what a part says of some sprints; if it does not fit, of each that does. It
// returns how many do not.
func (f *frozen) put(of []machine.NodeView, part []byte, ends []int) (left int) {
	if len(part) == 0 {
		return 0
	}
	if number, fits := f.add(part); fits {
		for _, v := range of {
			f.of[v.Key] = append(f.of[v.Key], number)
		}
		return 0
	}
	if len(of) == 1 {
		return 1
	}
	from := 0
	for i, end := range ends {
		left += f.put(of[i:i+1], part[from:end], nil)
		from = end
	}
	return left
}

// sprint takes what the page says about a sprint.
func (f *frozen) sprint(p *planned, v machine.NodeView, out *lines) {
	path := f.epic + "/nodes/" + component(string(v.Key))
	if s, err := f.live.sprint(v.Key); err == nil {
		out.put(path, f.frozenJSON(f.shown(s)))
	}
	if why, err := p.why(v.Key); err == nil {
		out.put(path+"/why", f.frozenJSON(why))
	} else {
		out.put(path+"/why", append([]byte("!"), f.frozenJSON(Fault{Error: err.Error(), Reason: "unknown"})...))
	}
	log := f.live.log(f.events[v.ID], wanted{limit: inPage})
	f.short = f.short || log.Before > 0
	log.Before = 0
	out.put(fmt.Sprintf("%s/log?limit=%d&key=%s", f.epic, inPage, component(string(v.Key))), f.frozenJSON(log))
}

// shown is a sprint as a report has it: nothing is being written, and what agents were told
// is left out if it is not asked for.
func (f *frozen) shown(s Sprint) Sprint {
	s.Tail = nil
	if f.with.Prompts {
		return s
	}
	if s.Show.Spec != nil {
		spec := *s.Show.Spec
		spec.Goal, spec.Tasks, spec.Acceptance, spec.Prompt, spec.Ext = "", nil, nil, nil, nil
		s.Show.Spec = &spec
	}
	s.Show.Feedback, s.Show.Attempts = nil, slices.Clone(s.Show.Attempts)
	for i := range s.Show.Attempts {
		s.Show.Attempts[i].Feedback = nil
	}
	return s
}

// files takes what the attempts of a sprint have left.
func (f *frozen) files(ctx context.Context, v machine.NodeView, out *lines) {
	path := f.epic + "/nodes/" + component(string(v.Key))
	if f.with.Diffs && len(v.Attempts) > 0 {
		out.put(path+"/diff", f.get(ctx, path+"/diff"))
	}
	for _, a := range v.Attempts {
		at := fmt.Sprintf("%s/attempts/%s/%d", path, component(a.Step), a.Number)
		if f.with.Diffs {
			out.put(at+"/diff", f.get(ctx, at+"/diff"))
		}
		if f.with.Prompts || f.with.Logs {
			f.filesOf(ctx, v, a, at, out)
		}
	}
}

// filesOf takes the files of an attempt: of each the end.
func (f *frozen) filesOf(ctx context.Context, v machine.NodeView, a machine.AttemptLog, at string, out *lines) {
	list := FileList{Files: []FileLine{}}
	dir := f.live.filesOf(v, a.Step, a.Number)
	if regular.NoLinks(dir) != nil {
		return
	}
	for _, x := range record.AttemptFiles(dir) {
		what, told := kindOfFile(x.Name), strings.HasSuffix(x.Name, ".feedback.md")
		if wanted := f.with.Logs; what == "prompt" || told {
			if wanted = f.with.Prompts; !wanted {
				continue
			}
		} else if !wanted {
			continue
		}
		body, status := f.ask(ctx, at+"/files/"+strings.ReplaceAll(component(x.Name), "%2F", "/"), fmt.Sprintf("bytes=-%d", mostReported))
		if status >= 300 && status != http.StatusRequestedRangeNotSatisfiable {
			continue
		}
		if status == http.StatusRequestedRangeNotSatisfiable {
			body = nil // it is empty
		}
		said := f.text(strings.ToValidUTF8(string(body), "\uFFFD"))
		if x.Size > mostReported {
			_, said, _ = strings.Cut(said, "\n")
			said = fmt.Sprintf("(%d bytes before this are not in the report)\n%s", x.Size-mostReported, said)
		}
		name := f.text(x.Name)
		list.Files = append(list.Files, FileLine{Name: name, Size: int64(len(said)), What: what})
		out.put(at+"/files/"+strings.ReplaceAll(component(name), "%2F", "/"), mustJSON(said))
	}
	out.put(at+"/files", mustJSON(list))
}

// component escapes a part of a path as encodeURIComponent does, by which the page asks.
func component(s string) string {
	return asComponent.Replace(url.QueryEscape(s))
}

var asComponent = strings.NewReplacer("+", "%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*")

// about is what the page has to know before it reads a part.
func (f *frozen) about() []byte {
	return mustJSON(struct {
		At      time.Time        `json:"at"`
		Omitted []string         `json:"omitted"`
		Parts   map[ir.Key][]int `json:"parts"`
	}{f.live.rec.Now.UTC(), orEmpty(f.omitted), f.of})
}
