package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/executor/effects"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/internal/redact"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/ir"
)

const (
	mostOfFile = 4 << 20  // bytes of a file in one answer
	aroundFile = 64 << 10 // bytes before and behind a part that are read, to see a secret that reaches into it
)

// fileRoutes are the routes about files, diffs and plans.
func fileRoutes() []route {
	attempt := "/nodes/{key}/attempts/{step}/{attempt}"
	return []route{
		apart[Diff]("/nodes/{key}/diff", "what a sprint changed", (*Server).sprintDiff, onePath),
		ofEpic[[]TimelineRow]("/timeline", "its attempts, and what went on in them when", func(l *live, r *http.Request) (any, error) {
			q := r.URL.Query()
			return within(l.timeline(), q.Get("from"), q.Get("to"))
		}, param{"from", "only what did not end before this time (RFC 3339)", false}, param{"to", "only what did not begin after it", false}),
		ofEpic[Cost]("/cost", "what its agents cost", func(l *live, _ *http.Request) (any, error) { return l.cost() }),
		apart[Trust]("/trust", "what speaks for its results, and what does not", (*Server).trust),
		apart[run.Bead]("/nodes/{key}/bead", "the bead of a sprint, as bd says it: a call of bd, at most every 15 seconds", (*Server).bead),
		apart[project.WhyJSON]("/nodes/{key}/why", "where the values of a sprint come from", (*Server).why),
		apart[Plan]("/plan", "its plan as it is now, and what that compiles to", (*Server).plan),
		apart[Result]("/result", "what has come of it: its branch, and its runs", (*Server).result),
		apart[Next]("/next", "what the next apply would do, and how long the rest may take", (*Server).next),
		apart[Diff](attempt+"/diff", "what an attempt changed", (*Server).attemptDiff, param{"against", "start: since its step began; a number: what that attempt of the step has left; else what it began with", false}, onePath),
		apart[FileList](attempt+"/files", "the files of an attempt: what its agent was told, what it and its gates wrote", (*Server).files),
		apart[FileSearch](attempt+"/search", "where a text is in a file of an attempt: all hits in its first GiB are counted, for at most 10 s, and a page of them is named", (*Server).search, ofSearch...),
		{
			method: http.MethodGet, path: "/epics/{epic}" + attempt + "/files/{name...}", kind: "text/plain", serve: (*Server).file,
			about: "a file of an attempt, or a Range of it: at most 4 MiB; secrets are blanked",
		},
		{
			method: http.MethodGet, path: "/epics/{epic}/nodes/{key}/tail", kind: "text/event-stream", serve: (*Server).tail,
			about: "what an attempt's programs write, as they write it: events file (TailOf), line (TailLine) and end (TailEnd)",
			query: []param{
				{"step", "of the attempt", false},
				{"attempt", "its number; without both: the present one", true},
				{"file", "only this file", false},
				{"from", "with file: begin behind this byte", true},
			},
		},
	}
}

// onePath is a parameter of diffs, of which a long one is cut.
var onePath = param{"path", "only the file of this name", false}

// apart is a route about an epic whose answer takes git, the disk or time: build does not run
// under the epic's mutex.
func apart[T any](path, about string, build func(s *Server, ctx context.Context, l *live, r *http.Request) (T, error), query ...param) route {
	return route{
		method: http.MethodGet, path: "/epics/{epic}" + path, about: about, query: query, answer: reflect.TypeFor[T](),
		serve: func(s *Server, w http.ResponseWriter, r *http.Request) {
			l, ok := s.epic(w, r)
			if !ok {
				return
			}
			v, err := build(s, r.Context(), l, r)
			if err != nil {
				send(w, r, nil, "", err)
				return
			}
			body, etag, err := encoded(v)
			send(w, r, body, etag, err)
		},
	}
}

// attempt finds the attempt that a request is about; the caller holds the mutex.
func (l *live) attempt(r *http.Request) (v machine.NodeView, a machine.AttemptLog, err error) {
	key, step := r.PathValue("key"), r.PathValue("step")
	v, is := l.byKey(ir.Key(key))
	if !is {
		return v, a, unknown("there is no sprint %s in this epic", key)
	}
	number, _ := strconv.Atoi(r.PathValue("attempt"))
	for _, a := range v.Attempts {
		if a.Step == step && a.Number == number {
			return v, a, nil
		}
	}
	return v, a, unknown("%s has no attempt %s #%s", key, step, r.PathValue("attempt"))
}

// filesOf is the directory of an attempt's files.
func (l *live) filesOf(v machine.NodeView, step string, number int) string {
	return effects.Files(l.rec.Space.State(), v.ID, step, number)
}

// named finds the attempt that a request is about, and the directory of its files.
func (l *live) named(r *http.Request) (about string, dir string, hide *redact.Redactor, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	v, a, err := l.attempt(r)
	if err != nil {
		return "", "", nil, err
	}
	return fmt.Sprintf("%s #%d of %s", a.Step, a.Number, v.Key), l.filesOf(v, a.Step, a.Number), l.agents().Redact, nil
}

// files lists an attempt's files.
func (s *Server) files(_ context.Context, l *live, r *http.Request) (FileList, error) {
	out := FileList{Files: []FileLine{}}
	_, dir, hide, err := l.named(r)
	if err != nil || regular.NoLinks(dir) != nil { // what is behind a link is not the attempt's
		return out, err
	}
	for _, f := range record.AttemptFiles(dir) {
		out.Files = append(out.Files, FileLine{Name: hide.String(f.Name), Size: f.Size, What: kindOfFile(f.Name)})
	}
	return out, nil
}

// kindOfFile says what a file of an attempt is.
func kindOfFile(name string) string {
	base := path.Base(name)
	switch {
	case strings.HasSuffix(base, ".prompt.md"):
		return "prompt"
	case strings.HasPrefix(name, "gate-"), strings.HasPrefix(name, "red-"):
		return "gate"
	case strings.HasSuffix(base, runner.OutExt), strings.HasSuffix(base, runner.ErrExt), strings.HasSuffix(base, ".log"), strings.HasSuffix(base, runner.StreamExt):
		return "log"
	}
	return "other"
}

// openFile opens a file of an attempt: a regular one that lies in its directory, and is
// reached through no link.
func openFile(dir, name string) (*os.File, error) {
	if err := regular.NoLinks(dir); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	for at := name; at != "." && at != "/"; at = path.Dir(at) {
		st, err := root.Lstat(at)
		if err != nil {
			return nil, err
		}
		if st.Mode()&fs.ModeSymlink != 0 {
			return nil, regular.ErrNot
		}
	}
	return regular.OpenIn(root, name)
}

// file answers with a file of an attempt.
func (s *Server) file(w http.ResponseWriter, r *http.Request) {
	l, ok := s.epic(w, r)
	if !ok {
		return
	}
	about, dir, hide, err := l.named(r)
	if err != nil {
		send(w, r, nil, "", err)
		return
	}
	f, err := openFile(dir, r.PathValue("name"))
	if err != nil { // whatever else it is, it is no file of the attempt
		send(w, r, nil, "", unknown("%s has no file %s", about, hide.String(r.PathValue("name"))))
		return
	}
	defer f.Close()
	if err := sendFile(w, r, f, hide); err != nil {
		send(w, r, nil, "", err)
	}
}

// sendFile answers with a file, or with the range of it that is asked for; never with more
// than mostOfFile bytes of it. After an error nothing was sent.
func sendFile(w http.ResponseWriter, r *http.Request, f *os.File, hide *redact.Redactor) error {
	st, err := f.Stat()
	if err != nil {
		return err
	}
	size := st.Size()
	from, to, ranged, possible := rangeOf(r.Header.Get("Range"), size)
	h := w.Header()
	etag := fmt.Sprintf(`"%x-%x"`, size, st.ModTime().UnixNano())
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("Cache-Control", "no-cache")
	h.Set("Accept-Ranges", "bytes")
	h.Set("ETag", etag)
	if has(r, etag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	if ranged && !possible {
		h.Set("Content-Range", "bytes */"+strconv.FormatInt(size, 10))
		h.Del("ETag") // of the file, not of what is said
		fail(w, http.StatusRequestedRangeNotSatisfiable, Fault{Error: fmt.Sprintf("the file has %d bytes, and none of those that were asked for", size), Reason: "invalid"})
		return nil
	}
	part, err := readMasked(f, hide, from, min(to, from+mostOfFile))
	if err != nil {
		return err
	}
	status := http.StatusOK
	switch end := from + int64(len(part)); {
	case ranged:
		status = http.StatusPartialContent
		h.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, end-1, size))
	case end < size:
		h.Set("X-Truncated", strconv.FormatInt(size, 10)) // its size
	}
	h.Set("Content-Length", strconv.Itoa(len(part)))
	w.WriteHeader(status)
	_, _ = w.Write(part) // who does not read it is gone
	return nil
}

// rangeOf reads a Range header of one range: bytes from..to of size. Anything else asks for
// everything.
func rangeOf(header string, size int64) (from, to int64, ranged, possible bool) {
	spec, is := strings.CutPrefix(header, "bytes=")
	first, last, cut := strings.Cut(spec, "-")
	if !is || !cut {
		return 0, size, false, true
	}
	if first == "" {
		n, err := strconv.ParseInt(last, 10, 64)
		if err != nil || n < 0 {
			return 0, size, false, true
		}
		return max(size-n, 0), size, true, n > 0 && size > 0
	}
	from, err := strconv.ParseInt(first, 10, 64)
	if err != nil || from < 0 {
		return 0, size, false, true
	}
	to = size
	if last != "" {
		n, err := strconv.ParseInt(last, 10, 64)
		if err != nil || n < from {
			return 0, size, false, true
		}
		if n < size {
			to = n + 1
		}
	}
	return from, to, true, from < size
}

// readMasked reads bytes from..to of a file, with secrets blanked; fewer if it ends before.
func readMasked(f io.ReaderAt, hide *redact.Redactor, from, to int64) ([]byte, error) {
	begin := max(from-aroundFile, 0)
	b := make([]byte, to+aroundFile-begin)
	n, err := f.ReadAt(b, begin)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	b = b[:n]
	hide.Mask(b)
	size := int64(n)
	return b[min(from-begin, size):min(to-begin, size)], nil
}

// wholeRunes is how much of a text can be cut off without cutting a character.
func wholeRunes(b []byte) int {
	for n := len(b); n > 0 && n > len(b)-utf8.UTFMax; n-- {
		if utf8.RuneStart(b[n-1]) {
			if utf8.FullRune(b[n-1:]) {
				return len(b)
			}
			return n - 1
		}
	}
	return len(b)
}
