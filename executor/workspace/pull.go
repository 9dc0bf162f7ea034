package workspace

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// forgePull is what gh says of a pull request.
type forgePull struct {
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

// Pull implements executor.Workspace. The pull request is looked up by its head branch
// before creating one and after a failed creation, so that a lost answer creates no
// second one. Title and body are kept up to date only if the body says that ralph wrote
// it.
func (s *Space) Pull(ctx context.Context, e executor.Effect, p executor.PullText) (out executor.Pulled, err error) {
	defer s.hold("pull " + string(e.Node))()
	branch := s.nodes[e.Node].Git.Branch
	var had *forgePull
	_, err = s.findGh()
	q := asking{err: err}
	q.do(func() error { return s.push(ctx, e, branch) })
	q.do(func() error { return s.pushOnto(ctx, e, p.Onto) })
	q.do(func() (err error) { had, err = s.pullOf(ctx, branch, e.Commit); return err })
	if q.err != nil {
		return out, q.err
	}
	mark := fmt.Sprintf("<!-- ralph %s/%s -->", s.epic.Epic.ID, e.Node)
	body := strings.TrimRight(p.Body, "\n") + "\n\n" + mark + "\n"
	title := []string{"--title", oneLine(p.Title, 200), "--body-file", "-"}
	if p.Onto != "" && (had == nil || p.Onto != had.BaseRefName) {
		title = append(title, "--base", p.Onto)
	}
	if had == nil {
		said, err := s.gh(ctx, body, append([]string{"pr", "create", "--head", branch}, title...)...)
		if made, ok := pullAt(said); ok && err == nil {
			return executor.Pulled{Pull: made}, nil
		}
		had, lerr := s.pullOf(ctx, branch, e.Commit)
		switch {
		case lerr != nil:
			return out, lerr
		case had == nil && err == nil:
			return out, fmt.Errorf("gh pr create printed %q, but there is no pull request for %s", oneLine(said, 200), branch)
		case had == nil:
			return out, err
		}
		return executor.Pulled{Pull: executor.Pull{Number: had.Number, URL: had.URL}}, nil
	}
	out.Pull = executor.Pull{Number: had.Number, URL: had.URL}
	if had.State == "OPEN" && strings.Contains(had.Body, mark) {
		_, err = s.gh(ctx, body, append([]string{"pr", "edit", strconv.Itoa(had.Number)}, title...)...)
	}
	return out, err
}

// pushOnto pushes the branch that a pull request asks to be merged into, if that
// is one of this epic's: another node's, or the integration branch, which begins
// at the base.
func (s *space) pushOnto(ctx context.Context, e executor.Effect, branch string) error {
	ref := "refs/heads/" + branch
	if !s.branches[ref] {
		return nil
	}
	at, err := s.git.ref(ctx, ref)
	if err == nil && at == "" {
		at, err = s.base(ctx)
	}
	if err != nil {
		return err
	}
	of := executor.Integration
	for id, n := range s.nodes {
		if n.Git.Branch == branch {
			of = string(id)
		}
	}
	return s.push(ctx, executor.Effect{Node: ir.NodeID(of), Commit: at, Seq: e.Seq}, branch)
}

// pullOf returns the pull request of a branch: the open one, else one that was
// merged or closed at this very commit, else nil.
func (s *space) pullOf(ctx context.Context, branch, commit string) (*forgePull, error) {
	out, err := s.gh(ctx, "", "pr", "list", "--head", branch, "--state", "all", "--limit", "100",
		"--json", "number,url,state,body,baseRefName,headRefOid,isCrossRepository")
	if err != nil {
		return nil, err
	}
	var all []forgePull
	if err := json.Unmarshal([]byte(out), &all); err != nil {
		return nil, fmt.Errorf("gh pr list did not print a list: %w", err)
	}
	var found *forgePull
	for p := range lists.Refs(all) {
		switch {
		case p.Fork: // a branch of the same name in another fork
		case p.State == "OPEN":
			return p, nil
		case p.HeadRefOid == commit && found == nil:
			found = p
		}
	}
	return found, nil
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

// Poll implements executor.Workspace. If the pull request is merged, the target is
// fetched and must contain the merge; until then it is still open for ralph.
func (s *Space) Poll(ctx context.Context, e executor.Effect) (executor.PullSeen, error) {
	out, err := s.gh(ctx, "", "pr", "view", strconv.Itoa(e.Pull.Number), "--json", "number,url,state,baseRefName,mergeCommit,comments")
	if err != nil {
		return executor.PullSeen{}, err
	}
	var p forgePull
	if err := json.Unmarshal([]byte(out), &p); err != nil {
		return executor.PullSeen{}, fmt.Errorf("gh pr view printed no pull request: %w", err)
	}
	switch p.State {
	case "OPEN":
		return executor.PullSeen{State: "open"}, nil
	case "CLOSED":
		seen := executor.PullSeen{State: "closed"}
		if n := len(p.Comments); n > 0 {
			seen.Comment = text.Head(p.Comments[n-1].Body, executor.MaxNote)
		}
		return seen, nil
	case "MERGED":
	default:
		return executor.PullSeen{}, fmt.Errorf("gh calls pull request %d %q", e.Pull.Number, p.State)
	}
	head, err := s.fetch(ctx, p.BaseRefName)
	if err != nil {
		return executor.PullSeen{}, err
	}
	merge := head
	if p.MergeCommit != nil && p.MergeCommit.Oid != "" {
		q := s.git.asking(ctx)
		merge = q.ref(p.MergeCommit.Oid + "^{commit}")
		if merge == "" || !q.ancestor(merge, head) {
			return executor.PullSeen{State: "open"}, q.err
		}
	}
	if err := s.git.point(ctx, "merged", [2]string{s.nodeRef(e.Node, "merged"), merge}); err != nil {
		return executor.PullSeen{}, err
	}
	at, err := s.git.at(ctx, head)
	return executor.PullSeen{State: "merged", Head: at}, err
}

// ghTime bounds one call of gh.
const ghTime = 2 * time.Minute

func (s *space) findGh() (string, error) {
	bin, err := exec.LookPath("gh")
	if err != nil {
		return "", config("pull requests need the program gh, which is not on PATH: install it (https://cli.github.com) and run gh auth login")
	}
	return bin, nil
}

// gh runs GitHub's program in the user's checkout, with the user's environment
// and configuration, and returns what it printed.
func (s *space) gh(ctx context.Context, in string, args ...string) (string, error) {
	bin, err := s.findGh()
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, ghTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, args...)
	cmd.SysProcAttr = process.OwnGroup()
	cmd.Dir = s.top
	cmd.Env = append(userEnv(), "GH_PROMPT_DISABLED=1", "GH_NO_UPDATE_NOTIFIER=1", "NO_COLOR=1", "GIT_TERMINAL_PROMPT=0")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	cmd.Stdin = strings.NewReader(in)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err = cmd.Run()
	if err == nil {
		return out.String(), nil
	}
	if ctx.Err() != nil {
		return "", fmt.Errorf("gh %s %s: %w", args[0], args[1], ctx.Err())
	}
	var exit *exec.ExitError
	text := oneLine(errOut.String(), 500)
	if !errors.As(err, &exit) {
		return "", fmt.Errorf("gh %s %s: %w", args[0], args[1], err)
	}
	if says(strings.ToLower(text), "gh auth login", "authentication", "http 401", "could not resolve to a repository", "none of the git remotes",
		"must be a collaborator", "resource not accessible", "no commits between") {
		return "", config("gh %s %s: %s", args[0], args[1], text)
	}
	return out.String(), &executor.Failure{Class: executor.FailTransient, Err: fmt.Errorf("gh %s %s: exit %d: %s", args[0], args[1], exit.ExitCode(), text)}
}
