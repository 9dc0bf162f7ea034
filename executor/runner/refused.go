package runner

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/wall"
)

// A noModel ends a turn whose sandbox keeps the program from its model: programs try again
// for minutes what will never succeed.
type noModel struct {
	sandbox, host string
	why           string // "": the host is not in the sandbox's network
}

func (e *noModel) Error() string {
	s := fmt.Sprintf("the model's host %s is refused by sandbox %q: ", e.host, e.sandbox)
	if e.why != "" {
		return s + e.why
	}
	return s + `add "model" to its network`
}

// Refused is the configuration failure by which a sandbox ended the turn of ctx; nil if
// none did.
func Refused(ctx context.Context, r executor.AgentRun) error {
	if no, ok := errors.AsType[*noModel](context.Cause(ctx)); ok {
		return Configuration(fmt.Errorf("agent %s: %w", AgentOf(r), no))
	}
	return nil
}

// heed calls end when the sandbox refuses the program its model: at once, if no server
// of it can be reached, else when the program asks for one.
func heed(w *wall.Spec, r executor.AgentRun, argv, env []string, end context.CancelCauseFunc) {
	if w == nil || end == nil {
		return
	}
	hosts := needed(r, argv, env)
	if len(hosts) == 0 {
		return
	}
	none := !slices.ContainsFunc(hosts, func(at string) bool { return reaches(w, at) })
	sure := r.Runner.Kind == "claude" || r.Runner.Kind == "codex"
	if sure && none && (w.Egress == nil || len(lists.Keep(hosts, loopback)) == len(hosts)) {
		end(&noModel{sandbox: w.Name, host: hosts[0]}) // no proxy will hear of it
		return
	}
	if w.Egress == nil {
		return
	}
	e, told := *w.Egress, w.Egress.Refused
	e.Refused = func(d wall.Denial) {
		if told != nil {
			told(d)
		}
		switch {
		case !slices.Contains(hosts, d.Host):
		case none:
			end(&noModel{sandbox: w.Name, host: d.Host})
		case (d.Private || loopback(d.Host)) && reaches(w, d.Host): // where it is, not what a program sent it
			end(&noModel{sandbox: w.Name, host: d.Host, why: d.Why})
		}
	}
	w.Egress = &e
}

// elsewhere are variables by which a program takes its model from a cloud of the user's.
var elsewhere = []string{"CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"}

// needed are the servers, "host:port", of which the runner's model needs at least one; none if
// they are unknown.
func needed(r executor.AgentRun, argv, env []string) []string {
	if own := ownModels(r, argv, env); len(own) > 0 {
		return own
	}
	if Value(env, elsewhere...) != "" {
		return nil
	}
	return lists.Map(usualModels(r), func(h string) string { return h + ":443" })
}

// reaches reports whether a sandbox lets a server through by its name.
func reaches(w *wall.Spec, at string) bool {
	if forwarded(w, at) {
		return true
	}
	host, port, err := net.SplitHostPort(at)
	if err != nil || w.Egress == nil {
		return false
	}
	return slices.Contains(w.Egress.Private, at) || slices.ContainsFunc(w.Egress.Hosts, func(listed string) bool {
		name, p, named := strings.Cut(listed, ":")
		if named && p != port || !named && port != "80" && port != "443" {
			return false
		}
		below, all := strings.CutPrefix(name, "*")
		return strings.EqualFold(name, host) || all && strings.HasSuffix(host, below)
	})
}
