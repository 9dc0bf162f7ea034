package workspace

import (
	"context"
	"iter"
	"strings"
)

// MayCommit refuses if git does not know who commits here. Who only reads need not ask.
func (s Checkout) MayCommit() error {
	if len(s.person) < 4 { // name and address, of the author and of the committer
		return &Refusal{"git does not know who commits", `git config user.name "Your Name" && git config user.email you@example.org`}
	}
	return nil
}

// Committer is who commits here by git's word: the name and the address.
func (s Checkout) Committer() []string {
	var out []string
	for _, v := range s.who {
		_, name, _ := strings.Cut(v, "=")
		out = append(out, name)
	}
	return out
}

// Identity tells git in a worktree who commits, as it was when the space was opened. In
// clones that is a setting of their own; worktrees share the repository's, which an agent
// may change for all others. Nil with clones.
func (s Checkout) Identity() map[string]string {
	if s.clones() {
		return nil
	}
	out := map[string]string{}
	for _, v := range s.person {
		name, value, _ := strings.Cut(v, "=")
		out[name] = value
	}
	return out
}

// Pager returns core.pager as the user and the machine have it, "" if neither does.
// What the repository says is not asked: an agent can write there, and a pager is a
// program that is run.
func (s Checkout) Pager(ctx context.Context) (string, error) {
	for value, err := range s.git.personal(ctx, "--get", "core.pager") {
		return strings.TrimSuffix(value, "\x00"), err
	}
	return "", nil
}

// personal asks git config what the user's own configuration says, and then the
// system's, each as -z prints it. One that says nothing, or is not there, is left out.
func (g *git) personal(ctx context.Context, args ...string) iter.Seq2[string, error] {
	user := *g
	user.conf, user.env, user.common, user.private, user.user = nil, userEnv(), "", "", true
	return func(yield func(string, error) bool) {
		for _, scope := range []string{"--global", "--system"} {
			out, err := user.run(ctx, place{}, "", nil, append([]string{"config", scope, "--includes", "-z"}, args...)...)
			if exitCode(err) == 0 && !yield(string(out), err) {
				return
			}
		}
	}
}
