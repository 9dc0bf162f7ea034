package workspace

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
)

// github is the forge of the program gh.
type github struct{ *program }

func newGithub(top string) github {
	return github{&program{
		name: "gh", top: top, env: []string{"GH_PROMPT_DISABLED=1", "GH_NO_UPDATE_NOTIFIER=1"},
		missing: "pull requests need the program gh, which is not on PATH: install it (https://cli.github.com) and run gh auth login",
		lasting: []string{
			"gh auth login", "authentication", "http 401", "could not resolve to a repository", "none of the git remotes",
			"must be a collaborator", "resource not accessible", "no commits between",
		},
	}}
}

// githubPull is what gh says of a pull request.
type githubPull struct {
	Number      int    `json:"number"`
	URL         string `json:"url"`
	State       string `json:"state"` // OPEN, MERGED, CLOSED
	Body        string `json:"body"`
	BaseRefName string `json:"baseRefName"`
	HeadRefOid  string `json:"headRefOid"`
	Fork        bool   `json:"isCrossRepository"`
	MergeCommit *struct {
		Oid string `json:"oid"`
	} `json:"mergeCommit"`
	Comments []struct {
		Body   string `json:"body"`
		Author struct {
			Login string `json:"login"`
		} `json:"author"`
	} `json:"comments"`
}

func (p *githubPull) pull() pull {
	out := pull{
		Pull:  executor.Pull{Number: p.Number, URL: p.URL},
		state: pullState(strings.ToLower(p.State)), body: p.Body, onto: p.BaseRefName, head: p.HeadRefOid, fork: p.Fork,
	}
	if p.MergeCommit != nil {
		out.merge = p.MergeCommit.Oid
	}
	if n := len(p.Comments); n > 0 {
		out.comment = p.Comments[n-1].Body
	}
	return out
}

func (g github) called(n int) string { return fmt.Sprintf("pull request #%d", n) }

func (g github) list(ctx context.Context, branch string) ([]pull, error) {
	out, err := g.run(ctx, "", "pr", "list", "--head", branch, "--state", "all", "--limit", "100",
		"--json", "number,url,state,body,baseRefName,headRefOid,isCrossRepository")
	if err != nil {
		return nil, err
	}
	var all []githubPull
	if err := json.Unmarshal([]byte(out), &all); err != nil {
		return nil, fmt.Errorf("gh pr list did not print a list: %w", err)
	}
	pulls := make([]pull, len(all))
	for i := range all {
		pulls[i] = all[i].pull()
	}
	return pulls, nil
}

func (g github) create(ctx context.Context, p pullSaid) (executor.Pull, error) {
	out, err := g.run(ctx, p.body, append([]string{"pr", "create", "--head", p.branch}, p.flags()...)...)
	if err != nil {
		return executor.Pull{}, err
	}
	made, ok := pullAt(out)
	if !ok {
		return executor.Pull{}, fmt.Errorf("gh pr create printed %q, but there is no pull request for %s", oneLine(out, 200), p.branch)
	}
	return made, nil
}

func (g github) edit(ctx context.Context, n int, p pullSaid) error {
	_, err := g.run(ctx, p.body, append([]string{"pr", "edit", strconv.Itoa(n)}, p.flags()...)...)
	return err
}

// flags are those of gh; the body is its standard input.
func (p pullSaid) flags() []string {
	out := []string{"--title", p.title, "--body-file", "-"}
	if p.onto != "" {
		out = append(out, "--base", p.onto)
	}
	return out
}

func (g github) view(ctx context.Context, n int) (pull, error) {
	out, err := g.run(ctx, "", "pr", "view", strconv.Itoa(n), "--json", "number,url,state,baseRefName,mergeCommit,comments")
	if err != nil {
		return pull{}, err
	}
	var p githubPull
	if err := json.Unmarshal([]byte(out), &p); err != nil {
		return pull{}, fmt.Errorf("gh pr view printed no pull request: %w", err)
	}
	return p.pull(), nil
}

// pullAt reads the number from the address that gh prints last.
func pullAt(out string) (executor.Pull, bool) {
	f := strings.Fields(out)
	if len(f) == 0 {
		return executor.Pull{}, false
	}
	url := f[len(f)-1]
	n, err := strconv.Atoi(path.Base(url))
	return executor.Pull{Number: n, URL: url}, err == nil && strings.Contains(url, "://")
}
