package opencode

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// relay leads from a port of this machine to the server of a turn in a sandbox, while the
// turn is at work. Inside, the agent can write in the session, too: a person is who comes
// this way, with a password that nothing inside knows.
type relay struct {
	session, password string
	wrote             chan wrote // what a person does; unbuffered: the request goes on once it is taken
	to                *httputil.ReverseProxy
	http              *http.Server
	ending            chan struct{}      // closed when the turn is over: nobody looks on any more
	stop              context.CancelFunc // ends the requests
	file              string             // says where it is
	wg                sync.WaitGroup

	mu    sync.Mutex // guards the rest
	shut  bool
	open  int       // requests that are being answered
	since time.Time // when that became 0
	count int       // what a person did
}

// wrote is something that a person does in a session.
type wrote struct {
	at   time.Time
	text string
}

// Bounds of a relay.
const (
	maxWords = 1 << 20 // of a message that are read for its text, in bytes
	maxWrote = 1000    // that a person does in one turn

	answering = 2 * time.Second // for which the end of a turn waits for an answer to what a person wrote
)

// lend opens a relay to the session of a turn in a sandbox, and says in the server's
// directory where it is. It is to be closed.
func (s *server) lend(ctx context.Context, session string) (*relay, error) {
	to, err := url.Parse(s.url)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &relay{session: session, password: rand.Text(), wrote: make(chan wrote), ending: make(chan struct{}), since: time.Now(), file: s.people()}
	quiet := log.New(io.Discard, "", 0) // what fails, the person's program shows
	fresh := s.client.Transport.(*http.Transport).Clone()
	fresh.DisableKeepAlives = true // a message that met a connection which the server just closed would be lost
	r.to = &httputil.ReverseProxy{
		Transport: fresh, ErrorLog: quiet,
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(to)
			p.Out.SetBasicAuth(userName, s.password)
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, "the server in the sandbox: "+err.Error(), http.StatusBadGateway)
		},
	}
	ctx, r.stop = context.WithCancel(ctx)
	r.http = &http.Server{
		Handler: r, ErrorLog: quiet, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	r.wg.Go(func() { _ = r.http.Serve(l) }) // until it is closed
	if err := s.write(func() error { return announce(r.file, "http://"+l.Addr().String(), r.password) }); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

// close ends it, and returns when nothing of it runs any more. What a person writes may be what
// ends the turn: it is answered first.
func (r *relay) close() {
	r.mu.Lock()
	r.shut = true
	r.mu.Unlock()
	_ = os.Remove(r.file) // who still reads it finds nobody there
	close(r.ending)
	ctx, cancel := context.WithTimeout(context.Background(), answering)
	defer cancel()
	_ = r.http.Shutdown(ctx) // what is not answered by then is cut
	r.stop()
	_ = r.http.Close()
	r.wg.Wait()
}

// ServeHTTP answers a request of a person's program.
func (r *relay) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	name, password, _ := q.BasicAuth()
	if name != userName || subtle.ConstantTimeCompare([]byte(password), []byte(r.password)) != 1 {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	counts := q.URL.Path != healthPath // who only asks whether it is there is not
	if !r.begin(counts) {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	defer r.end(counts)
	if text, ok := r.words(q); ok {
		if !r.more() {
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		select {
		case r.wrote <- wrote{time.Now(), text}:
		case <-q.Context().Done():
			return
		}
	}
	if q.Method == http.MethodGet {
		ctx, cancel := context.WithCancel(q.Context())
		defer cancel()
		r.wg.Go(func() {
			select {
			case <-r.ending:
				cancel()
			case <-ctx.Done():
			}
		})
		q = q.WithContext(ctx)
	}
	r.to.ServeHTTP(w, q)
}

func (r *relay) begin(counts bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.shut {
		return false
	}
	r.wg.Add(1)
	if counts {
		r.open++
	}
	return true
}

func (r *relay) end(counts bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if counts {
		r.open--
		r.since = time.Now()
	}
	r.wg.Done()
}

// more counts something that a person does; false: it is too much.
func (r *relay) more() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count++
	return r.count <= maxWrote
}

// gone is for how long nobody has been connected; 0: somebody is. A program that a person
// looks with has the stream of events open.
func (r *relay) gone() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open > 0 {
		return 0
	}
	return time.Since(r.since)
}

// words are what a person writes or does in the turn's session with a request; false: it
// does nothing there.
func (r *relay) words(q *http.Request) (string, bool) {
	rest, in := strings.CutPrefix(strings.TrimPrefix(q.URL.Path, "/api"), "/session/")
	id, what, _ := strings.Cut(rest, "/")
	if !in || id != r.session || q.Method != http.MethodPost {
		return "", false
	}
	switch what {
	case "abort", "interrupt":
		return stopped, true
	case "shell":
		return ranCommand, true
	case "message", "prompt_async", "prompt", "command":
		return said(q)
	}
	return "", false
}

// said is the text of a message; false: it is none of a person's. The request keeps its body.
func said(q *http.Request) (string, bool) {
	head, err := io.ReadAll(io.LimitReader(q.Body, maxWords))
	q.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(head), q.Body), q.Body}
	var in struct {
		Parts     []part `json:"parts"`
		Command   string `json:"command"`
		Arguments string `json:"arguments"`
	}
	if err = errors.Join(err, json.Unmarshal(head, &in)); err != nil {
		return "(a message of which the text is not known)", true // a long one, say
	}
	var texts []string
	own := len(in.Parts) > 0 // the program's own notes are synthetic
	for _, p := range in.Parts {
		own = own && p.Synthetic
		if p.Type == "text" && !p.Synthetic {
			texts = append(texts, p.Text)
		}
	}
	if in.Command != "" {
		own, texts = false, append(texts, "/"+in.Command+" "+in.Arguments)
	}
	if own {
		return "", false
	}
	return cmp.Or(strings.TrimSpace(strings.Join(texts, "\n\n")), "(a message without text)"), true
}

// people is the file that says where the relay to a server in a sandbox is; it is hidden there.
func (s *server) people() string { return filepath.Join(s.dir, peopleDir, announceFile) }
