package workspace

import (
	"context"
	"strings"
)

// Names returns who git says is at work here: the name and the address that commits get.
func (s *Space) Names() []string {
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
func (s *Space) Identity() map[string]string {
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
func (s *Space) Pager(ctx context.Context) (string, error) {
	user := *s.git
	user.conf, user.env, user.common, user.private, user.user = nil, userEnv(), "", "", true
	for _, scope := range []string{"--global", "--system"} {
		out, err := user.line(ctx, place{}, "config", scope, "--includes", "--get", "core.pager")
		if err == nil {
			return out, nil
		}
		if exitCode(err) == 0 {
			return "", err
		}
	}
	return "", nil // not set, or there is no such file
}
