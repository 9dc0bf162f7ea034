package workspace

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// gitlabServer is a small GitLab with one project: the API of merge requests, over a
// bare repository.
type gitlabServer struct {
	t      testing.TB
	url    string
	remote string // the project's repository

	mu      sync.Mutex
	merges  map[int]map[string]any
	notes   []map[string]any
	asked   []string // method and place of each request
	refuses int      // a status that answers every request
	loses   bool     // the next creation happens, and its answer is lost
}

const gitlabProject = "/api/v4/projects/group%2Fsub%2Fproject"

func newGitlabServer(t testing.TB, remote string) *gitlabServer {
	g := &gitlabServer{t: t, remote: remote, merges: map[int]map[string]any{}}
	server := httptest.NewServer(g)
	t.Cleanup(server.Close)
	g.url = server.URL
	return g
}

// set changes what the server knows.
func (g *gitlabServer) set(change func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	change()
}

func (g *gitlabServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	place, inside := strings.CutPrefix(r.URL.EscapedPath(), gitlabProject)
	g.asked = append(g.asked, r.Method+" "+r.URL.RequestURI())
	w.Header().Set("Content-Type", "application/json")
	switch {
	case g.refuses >= 500:
		w.WriteHeader(g.refuses)
		fmt.Fprint(w, "<html>bad gateway</html>")
	case g.refuses != 0:
		g.answer(w, g.refuses, map[string]any{"message": fmt.Sprintf("%d %s", g.refuses, http.StatusText(g.refuses))})
	case r.Header.Get("Private-Token") != "a-token":
		g.answer(w, 401, map[string]any{"message": "401 Unauthorized"})
	case !inside:
		g.answer(w, 404, map[string]any{"message": "404 Project Not Found"})
	case place == "":
		g.answer(w, 200, map[string]any{"id": 1, "default_branch": "main"})
	case place == "/merge_requests" && r.Method == http.MethodGet:
		all := []map[string]any{}
		for n := len(g.merges); n > 0; n-- { // the newest comes first
			if g.merges[n]["source_branch"] == r.URL.Query().Get("source_branch") && r.URL.Query().Get("state") == "all" {
				all = append(all, g.merges[n])
			}
		}
		g.answer(w, 200, all)
	case place == "/merge_requests" && r.Method == http.MethodPost:
		g.create(w, r)
	default:
		g.one(w, r, strings.Split(strings.TrimPrefix(place, "/merge_requests/"), "/"))
	}
}

func (g *gitlabServer) create(w http.ResponseWriter, r *http.Request) {
	m := map[string]any{"state": "opened", "source_project_id": 1, "target_project_id": 1, "merge_commit_sha": nil, "squash_commit_sha": nil}
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
		g.answer(w, 400, map[string]any{"error": err.Error()})
		return
	}
	for _, field := range []string{"source_branch", "target_branch", "title"} {
		if m[field] == nil {
			g.answer(w, 400, map[string]any{"error": field + " is missing"})
			return
		}
	}
	branch := m["source_branch"].(string)
	for _, other := range g.merges {
		if other["source_branch"] == branch && other["state"] == "opened" {
			g.answer(w, 409, map[string]any{"message": []string{"Another open merge request already exists for this source branch: !1"}})
			return
		}
	}
	sha, err := exec.Command("git", "--git-dir="+g.remote, "rev-parse", "--verify", "-q", "refs/heads/"+branch).Output()
	if err != nil {
		g.answer(w, 422, map[string]any{"message": []string{"Source branch does not exist"}})
		return
	}
	n := len(g.merges) + 1
	m["iid"], m["sha"], m["web_url"] = n, strings.TrimSpace(string(sha)), fmt.Sprintf("https://gitlab.test/group/sub/project/-/merge_requests/%d", n)
	g.merges[n] = m
	if g.loses {
		g.loses = false
		panic(http.ErrAbortHandler)
	}
	g.answer(w, 201, m)
}

func (g *gitlabServer) one(w http.ResponseWriter, r *http.Request, place []string) {
	n, _ := strconv.Atoi(place[0])
	m := g.merges[n]
	switch {
	case m == nil:
		g.answer(w, 404, map[string]any{"message": "404 Not found"})
	case len(place) == 2 && place[1] == "notes":
		g.answer(w, 200, g.notes)
	case r.Method == http.MethodPut:
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
			g.t.Error(err)
		}
		g.answer(w, 200, m)
	default:
		g.answer(w, 200, m)
	}
}

func (g *gitlabServer) answer(w http.ResponseWriter, status int, v any) {
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(v); err != nil {
		g.t.Error(err)
	}
}

// gitlab gives the repository the remote git@gitlab.test:group/sub/project.git, and puts
// glab on PATH: a stand-in, or the real one.
func (r *repo) gitlab(real bool) *gitlabServer {
	r.t.Helper()
	home := r.t.TempDir()
	remote, ssh := filepath.Join(home, "project.git"), filepath.Join(home, "ssh")
	r.must(os.WriteFile(ssh, []byte("#!/bin/sh\nfor last; do :; done\nexec ${last%% *} \""+remote+"\"\n"), 0o755))
	r.git("init", "-q", "--bare", "-b", "main", remote)
	r.git("config", "core.sshCommand", ssh)
	r.git("config", "ssh.variant", "ssh")
	r.git("remote", "add", "origin", "git@gitlab.test:group/sub/project.git")
	r.git("push", "-q", "origin", "main")
	g := newGitlabServer(r.t, remote)
	r.t.Setenv("GITLAB_TOKEN", "a-token")
	for _, name := range []string{"GITLAB_HOST", "GITLAB_URI", "GL_HOST", "GLAB_CONFIG_DIR"} {
		r.t.Setenv(name, "")
	}
	if real {
		r.t.Setenv("HOME", home)
		host := strings.TrimPrefix(g.url, "http://")
		r.must(os.MkdirAll(filepath.Join(home, ".config/glab-cli"), 0o700))
		r.must(os.WriteFile(filepath.Join(home, ".config/glab-cli/config.yml"),
			fmt.Appendf(nil, "check_update: false\nhosts:\n  gitlab.test:\n    api_protocol: http\n    api_host: %s\n", host), 0o600))
		return g
	}
	self, err := os.Executable()
	r.must(err)
	bin := filepath.Join(home, "bin")
	r.must(os.MkdirAll(bin, 0o755))
	r.must(os.WriteFile(filepath.Join(bin, "glab"), fmt.Appendf(nil, "#!/bin/sh\nRALPH_TEST_GITLAB=%s exec %s \"$@\"\n", g.url, self), 0o755))
	r.t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	return g
}

// standInGlab does what ralph asks of glab, at a server, and prints what glab 1.53 does.
func standInGlab(server string, args []string) int {
	fail := func(why string) int {
		fmt.Fprintln(os.Stderr, why)
		return 1
	}
	if len(args) < 4 || args[0] != "api" || args[2] != "--method" {
		return fail("unknown command")
	}
	if host := os.Getenv("GITLAB_HOST"); host != "gitlab.test" {
		return fail("x error connecting to " + cmp.Or(host, "gitlab.com"))
	}
	fields := map[string]string{}
	for rest := args[4:]; len(rest) > 1; rest = rest[2:] {
		name, value, _ := strings.Cut(rest[1], "=")
		if rest[0] == "--field" && value == "@-" {
			in, _ := io.ReadAll(os.Stdin)
			value = string(in)
		}
		fields[name] = value
	}
	body, _ := json.Marshal(fields)
	req, err := http.NewRequest(args[3], server+"/api/v4/"+args[1], bytes.NewReader(body))
	if err != nil {
		return fail(err.Error())
	}
	req.Header.Set("Private-Token", os.Getenv("GITLAB_TOKEN"))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fail(err.Error())
	}
	defer resp.Body.Close()
	said, _ := io.ReadAll(resp.Body)
	if resp.StatusCode < 300 {
		_, _ = os.Stdout.Write(said)
		return 0
	}
	var is struct{ Message string }
	if err := json.Unmarshal(said, &is); err != nil {
		return fail(strings.Replace(err.Error(), "field .message", "field .Message", 1))
	}
	_, _ = os.Stdout.Write(said)
	return fail(fmt.Sprintf("glab: %s (HTTP %d)", is.Message, resp.StatusCode))
}
