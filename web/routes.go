package web

import (
	"net/http"
	"reflect"
	"slices"

	"github.com/ralph-compiler/ralph/ir"
)

// base is where the API begins.
const base = "/api/v1"

// route is one entry of the table that the multiplexer, the OpenAPI document and the
// page's types are made from.
type route struct {
	method string
	path   string // below base
	about  string
	query  []param
	body   reflect.Type // of a POST
	answer reflect.Type // of JSON; nil: what kind says
	kind   string       // "", text/plain or text/event-stream
	writes bool         // it is left out with --read-only
	free   bool         // it needs no token
	serve  func(s *Server, w http.ResponseWriter, r *http.Request)
}

// param is a parameter of a query.
type param struct {
	name, about string
	number      bool
}

// routes are all there are.
func routes() []route {
	list := []route{
		{method: http.MethodGet, path: "/openapi.json", about: "this description", answer: reflect.TypeFor[Raw](), serve: (*Server).describe},
		{method: http.MethodPost, path: "/open", about: "the token, for the code of a link that ralph ui has opened: it counts once", body: reflect.TypeFor[Open](), answer: reflect.TypeFor[Opened](), free: true, serve: (*Server).open},
		whole[Session]("/session", "who is asked, and about what", (*Server).session),
		whole[[]Repository]("/repos", "the repositories and their epics", func(s *Server) (any, error) { return s.repositories(), nil }),
		whole[Inbox]("/inbox", "what waits for people in all epics, and what failed", (*Server).inboxes),
		lookingOut[Epic]("", "an epic", func(l *live, _ *http.Request) (any, error) { return l.epic(), nil }),
		ofEpic[Graph]("/graph", "its graph: changes only with epic.json", func(l *live, _ *http.Request) (any, error) { return l.graph() }),
		ofEpic[Statuses]("/status", "the status of each sprint", func(l *live, _ *http.Request) (any, error) { return l.statuses() }),
		ofEpic[RunGraph]("/runs", "its attempts as a graph", func(l *live, _ *http.Request) (any, error) { return l.runs() }),
		ofEpic[Log]("/log", "its events, newest first", func(l *live, r *http.Request) (any, error) {
			of, err := wantedOf(r.URL.Query())
			if err != nil {
				return nil, err
			}
			return l.entries(of), nil
		}, ofLog...),
		lookingOut[Sprint]("/nodes/{key}", "a sprint", func(l *live, r *http.Request) (any, error) { return l.sprint(ir.Key(r.PathValue("key"))) }),
		{method: http.MethodGet, path: "/events", about: "every event as it happens, of all epics", kind: "text/event-stream", serve: (*Server).streamAll},
		{
			method: http.MethodGet, path: "/epics/{epic}/events", about: "every event of an epic as it happens", kind: "text/event-stream", serve: (*Server).streamEpic,
			query: []param{{"after", "begin behind this number", true}},
		},
		decision("/epics/{epic}/decisions", "decide about the whole run: approve, pause, resume, cancel"),
		decision("/epics/{epic}/nodes/{key}/decisions", "decide about a sprint"),
	}
	return slices.Concat(list, fileRoutes(), shepherdRoutes())
}

func decision(path, about string) route {
	return route{method: http.MethodPost, path: path, about: about, body: reflect.TypeFor[Decide](), answer: reflect.TypeFor[Decided](), writes: true, serve: (*Server).decide}
}

// whole is a route about everything.
func whole[T any](path, about string, build func(*Server) (any, error)) route {
	return route{method: http.MethodGet, path: path, about: about, answer: reflect.TypeFor[T](), serve: func(s *Server, w http.ResponseWriter, r *http.Request) {
		body, etag, err := s.answer(path, func() (any, error) { return build(s) })
		send(w, r, body, etag, err)
	}}
}

// ofEpic is a route about an epic. build runs under the epic's mutex, and only once between
// two changes.
func ofEpic[T any](path, about string, build func(*live, *http.Request) (any, error), query ...param) route {
	return route{
		method: http.MethodGet, path: "/epics/{epic}" + path, about: about, query: query, answer: reflect.TypeFor[T](),
		serve: func(s *Server, w http.ResponseWriter, r *http.Request) {
			l, ok := s.epic(w, r)
			if !ok {
				return
			}
			body, etag, err := l.answer(asked(r, query), func() (any, error) { return build(l, r) })
			send(w, r, body, etag, err)
		},
	}
}

// lookingOut is a route about an epic whose answer says also what no event tells of.
func lookingOut[T any](path, about string, build func(*live, *http.Request) (any, error)) route {
	r := ofEpic[T](path, about, build)
	serve := r.serve
	r.serve = func(s *Server, w http.ResponseWriter, req *http.Request) {
		if l := s.house.find(req.PathValue("epic")); l != nil && l.lookOut() {
			s.house.tell()
		}
		serve(s, w, req)
	}
	return r
}

// asked is what an answer depends on: parameters that a route does not know change nothing.
func asked(r *http.Request, query []param) string {
	out, given := r.URL.Path, r.URL.Query()
	for _, p := range query {
		out += "\x00" + given.Get(p.name)
	}
	return out
}

// epic finds the epic that a request is about; otherwise it answers it.
func (s *Server) epic(w http.ResponseWriter, r *http.Request) (*live, bool) {
	if l := s.house.find(r.PathValue("epic")); l != nil {
		return l, true
	}
	fail(w, http.StatusNotFound, Fault{Error: "there is no epic " + r.PathValue("epic") + " here", Reason: "unknown"})
	return nil, false
}
