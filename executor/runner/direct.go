package runner

import (
	"slices"
	"strings"
)

// here are the addresses to which no proxy of the user leads: that of the tools, of
// the agent's own server.
var here = []string{"127.0.0.1", "localhost"}

// direct lets an agent that goes to the network through a proxy reach this machine
// without it: the proxy could not, and would be shown the token.
func direct(env []string) []string {
	if Value(env, "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "https_proxy", "HTTPS_PROXY") == "" {
		return env
	}
	not := Value(env, "no_proxy", "NO_PROXY")
	list := strings.FieldsFunc(not, func(r rune) bool { return r == ',' || r == ' ' })
	for _, h := range here {
		if !slices.Contains(list, h) && !slices.Contains(list, "*") {
			list = append(list, h)
		}
	}
	env = slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		return strings.HasPrefix(v, "no_proxy=") || strings.HasPrefix(v, "NO_PROXY=")
	})
	all := strings.Join(list, ",")
	return append(env, "NO_PROXY="+all, "no_proxy="+all)
}
