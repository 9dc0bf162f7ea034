package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/web"
)

// night is a repository whose run waits in the morning: 1.1 is done, 1.2 is blocked by a
// gate, 2.1 and 2.2 wait for approval.
type night struct {
	t    *testing.T
	dir  string
	bin  string // directory of ralph
	hold string // while it is there, the agent of 2.3 works
	env  []string
}

// newNight compiles the plan of testdata/night.
func newNight(t *testing.T) *night {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	n := &night{t: t, dir: filepath.Join(top, "shop"), bin: filepath.Join(top, "bin"), hold: filepath.Join(top, "hold")}
	if err := os.CopyFS(n.dir, os.DirFS("testdata/night")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(n.bin, 0o755); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Link(self, filepath.Join(n.bin, "ralph")); err != nil {
		if err := os.CopyFS(n.bin, os.DirFS(filepath.Dir(self))); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(n.bin, filepath.Base(self)), filepath.Join(n.bin, "ralph")); err != nil {
			t.Fatal(err)
		}
	}
	n.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + top, "HOLD=" + n.hold, "GIT_CONFIG_GLOBAL=/dev/null", "TMPDIR=" + os.TempDir(),
		"GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.org", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.org",
	}
	n.git("init", "-q", "-b", "main", ".")
	n.git("add", "-A")
	n.git("commit", "-q", "-m", "a shop")
	n.ralph(0, "compile", "plan.md")
	n.git("add", "-A")
	n.git("commit", "-q", "-m", "plan")
	return n
}

func (n *night) command(name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(n.t.Context(), name, args...)
	cmd.Dir, cmd.Env = n.dir, n.env
	return cmd
}

func (n *night) git(args ...string) {
	n.t.Helper()
	if out, err := n.command("git", args...).CombinedOutput(); err != nil {
		n.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

// ralph runs a command that ends with a code, and returns what it printed.
func (n *night) ralph(code int, args ...string) string {
	n.t.Helper()
	out, err := n.command(filepath.Join(n.bin, "ralph"), args...).CombinedOutput()
	var ended *exec.ExitError
	got := 0
	if errors.As(err, &ended) {
		got = ended.ExitCode()
	} else if err != nil {
		n.t.Fatal(err)
	}
	if got != code {
		n.t.Fatalf("ralph %q: exit code %d, not %d\n%s", args, got, code, out)
	}
	return string(out)
}

// page is a server about repositories, and a client of it.
type page struct {
	t    *testing.T
	url  string // with a slash behind it
	auth string
	stop func()

	usual bool // it is where the repository's always is
}

// serve serves the page about directories until the test ends.
func serve(t *testing.T, o web.Options) *page {
	t.Helper()
	s, err := web.Listen(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx) }()
	p := &page{t: t, url: s.Address(), auth: "Bearer " + strings.TrimPrefix(s.Link(), s.Address()+"#t="), usual: s.UsualPort()}
	p.stop = func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the server ended: %v", err)
		}
		ended <- nil
	}
	t.Cleanup(p.stop)
	return p
}

// ask sends a request with the token; change alters it before. The OpenAPI document must allow
// what is answered.
func (p *page) ask(method, path, body string, change ...func(*http.Request)) (*http.Response, string) {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), method, p.url+strings.TrimPrefix(path, "/"), strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Authorization", p.auth)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, c := range change {
		c(req)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	web.Conforms(p.t, method, req.URL.EscapedPath(), resp.StatusCode, resp.Header.Get("Content-Type"), b)
	return resp, string(b)
}

// get reads JSON.
func get[T any](p *page, path string) T {
	p.t.Helper()
	resp, body := p.ask(http.MethodGet, "api/v1"+path, "")
	if resp.StatusCode != http.StatusOK {
		p.t.Fatalf("GET %s: %d %s", path, resp.StatusCode, body)
	}
	var v T
	d := json.NewDecoder(bytes.NewReader([]byte(body)))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		p.t.Fatalf("GET %s: %v\n%s", path, err, body)
	}
	return v
}

// only is the one epic that is served.
func (p *page) only() web.EpicLine {
	p.t.Helper()
	repos := get[[]web.Repository](p, "/repos")
	if len(repos) != 1 || len(repos[0].Epics) != 1 {
		p.t.Fatalf("one epic was expected: %+v", repos)
	}
	return repos[0].Epics[0]
}

// until waits until something is so.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("in vain: %s", what)
		}
	}
}
