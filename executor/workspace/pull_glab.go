package workspace

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"strconv"

	"github.com/ralph-compiler/ralph/executor"
)

// gitlab is the forge of the program glab. It asks GitLab's API through glab api, about
// the project that is pushed to, whatever other remotes there are.
type gitlab struct {
	*program
	project string // its place in the API
	remote  string
}

func newGitlab(top, remote, address string) gitlab {
	host, path := webPlace(address)
	if host == "altssh.gitlab.com" { // is for ssh alone
		host = "gitlab.com"
	}
	g := gitlab{remote: remote, program: &program{
		name: "glab", top: top, env: []string{"NO_PROMPT=1", "GLAB_CHECK_UPDATE=0"},
		missing: "merge requests need the program glab, which is not on PATH: install it (https://gitlab.com/gitlab-org/cli) and run glab auth login",
		lasting: []string{
			"glab auth login", "http 400", "http 401", "http 403", "http 404", "http 409", "http 422",
		},
	}}
	if host != "" && path != "" {
		g.project = "projects/" + url.PathEscape(path)
	}
	if os.Getenv("GITLAB_HOST") == "" && os.Getenv("GITLAB_URI") == "" && os.Getenv("GL_HOST") == "" && host != "" {
		g.env = append(g.env, "GITLAB_HOST="+host)
	}
	return g
}

// listOfReasons is what glab prints where GitLab refused a request for several reasons.
const listOfReasons = "cannot unmarshal array into Go struct field .Message"

// gitlabPull is what GitLab says of a merge request.
type gitlabPull struct {
	Number      int    `json:"iid"`
	URL         string `json:"web_url"`
	State       string `json:"state"` // opened, locked (being merged), merged, closed
	Body        string `json:"description"`
	Target      string `json:"target_branch"`
	Head        string `json:"sha"`
	FromProject int64  `json:"source_project_id"`
	ToProject   int64  `json:"target_project_id"`
	Merge       string `json:"merge_commit_sha"`
	Squash      string `json:"squash_commit_sha"`
}

func (p *gitlabPull) pull() pull {
	out := pull{
		Pull:  executor.Pull{Number: p.Number, URL: p.URL},
		state: pullState(p.State), body: p.Body, onto: p.Target, head: p.Head, fork: p.FromProject != p.ToProject,
		merge: cmp.Or(p.Merge, p.Squash, p.Head), // a fast-forward has no commit of its own
	}
	if p.State == "opened" || p.State == "locked" {
		out.state = pullOpen
	}
	return out
}

func (g gitlab) called(n int) string { return fmt.Sprintf("merge request !%d", n) }

// find also refuses where the address names no project.
func (g gitlab) find() error {
	if g.project == "" {
		return config("merge requests need a remote at a GitLab, and the address of %s names none: see git remote -v, and name another in git { remote = … }", g.remote)
	}
	return g.program.find()
}

// api sends a request about the project, and reads the answer.
func (g gitlab) api(ctx context.Context, into any, in, method, place string, fields ...string) error {
	if g.project == "" {
		return g.find()
	}
	out, err := g.run(ctx, in, append([]string{"api", g.project + place, "--method", method}, fields...)...)
	switch {
	case err == nil:
	case says(err.Error(), listOfReasons):
		return config("glab api: GitLab refused a merge request (%s %s%s), and glab cannot print the reasons: make it by hand, then retry", method, g.project, place)
	case says(err.Error(), "HTTP 401"):
		return config("%v; glab auth login signs in", err)
	default:
		return err
	}
	if err := json.Unmarshal([]byte(out), into); err != nil {
		return fmt.Errorf("glab api %s%s did not print what was asked for: %w", g.project, place, err)
	}
	return nil
}

func (g gitlab) list(ctx context.Context, branch string) ([]pull, error) {
	var all []gitlabPull
	if err := g.api(ctx, &all, "", "GET", "/merge_requests?state=all&per_page=100&source_branch="+url.QueryEscape(branch)); err != nil {
		return nil, err
	}
	pulls := make([]pull, len(all))
	for i := range all {
		pulls[i] = all[i].pull()
	}
	return pulls, nil
}

func (g gitlab) create(ctx context.Context, p pullSaid) (executor.Pull, error) {
	if p.onto == "" {
		var project struct {
			Branch string `json:"default_branch"`
		}
		if err := g.api(ctx, &project, "", "GET", ""); err != nil {
			return executor.Pull{}, err
		}
		p.onto = project.Branch
	}
	var made gitlabPull
	if err := g.api(ctx, &made, p.body, "POST", "/merge_requests", append(p.fields(), "--raw-field", "source_branch="+p.branch)...); err != nil {
		return executor.Pull{}, err
	}
	if made.Number == 0 || made.URL == "" {
		return executor.Pull{}, fmt.Errorf("glab api printed no number or address of the merge request for %s", p.branch)
	}
	return executor.Pull{Number: made.Number, URL: made.URL}, nil
}

func (g gitlab) edit(ctx context.Context, n int, p pullSaid) error {
	var changed gitlabPull
	return g.api(ctx, &changed, p.body, "PUT", "/merge_requests/"+strconv.Itoa(n), p.fields()...)
}

// fields are those of the API; the description is glab's standard input.
func (p pullSaid) fields() []string {
	out := []string{"--raw-field", "title=" + p.title, "--field", "description=@-"}
	if p.onto != "" {
		out = append(out, "--raw-field", "target_branch="+p.onto)
	}
	return out
}

func (g gitlab) view(ctx context.Context, n int) (pull, error) {
	place := "/merge_requests/" + strconv.Itoa(n)
	var is gitlabPull
	if err := g.api(ctx, &is, "", "GET", place); err != nil {
		return pull{}, err
	}
	p := is.pull()
	if p.state != pullClosed {
		return p, nil
	}
	var notes []struct {
		Body   string `json:"body"`
		System bool   `json:"system"` // GitLab's own: "closed"
	}
	if err := g.api(ctx, &notes, "", "GET", place+"/notes?sort=desc&order_by=created_at&per_page=100"); err != nil {
		return pull{}, err
	}
	for i := range notes {
		if !notes[i].System {
			p.comment = notes[i].Body
			break
		}
	}
	return p, nil
}
