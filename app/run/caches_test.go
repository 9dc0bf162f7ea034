package run

import (
	"slices"
	"testing"

	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/wall"
	"github.com/ralph-compiler/ralph/ir"
)

// TestCachesAreWhereTheirToolsLook: a variable that names one for a tool names it for sandboxes,
// which hand it on.
func TestCachesAreWhereTheirToolsLook(t *testing.T) {
	clean := map[string]string{"HOME": "/home/ada"}
	for _, name := range []string{"GOPATH", "GOMODCACHE", "GOCACHE", "XDG_CACHE_HOME", "UV_CACHE_DIR", "PIP_CACHE_DIR", "npm_config_cache", "NPM_CONFIG_CACHE", "CARGO_HOME", "XDG_STATE_HOME"} {
		clean[name] = ""
	}
	for name, c := range map[string]struct {
		set  map[string]string
		want []string
	}{
		"nothing is named": {nil, []string{
			"/home/ada/go/pkg/mod", "/home/ada/.cache/go-build", "/home/ada/.cache/uv", "/home/ada/.npm/_cacache", "/home/ada/.cache/pip", "/home/ada/.cargo/registry", "/home/ada/.cargo/git",
		}},
		"the directory of all": {map[string]string{"XDG_CACHE_HOME": "/data/cache", "GOPATH": "/go:/other"}, []string{
			"/go/pkg/mod", "/data/cache/go-build", "/data/cache/uv", "/home/ada/.npm/_cacache", "/data/cache/pip", "/home/ada/.cargo/registry", "/home/ada/.cargo/git",
		}},
		"each": {map[string]string{"GOMODCACHE": "/a/mod", "GOCACHE": "/b", "UV_CACHE_DIR": "/c", "NPM_CONFIG_CACHE": "/d", "PIP_CACHE_DIR": "/e/", "CARGO_HOME": "/f"}, []string{
			"/a/mod", "/b", "/c", "/d/_cacache", "/e", "/f/registry", "/f/git",
		}},
		"what is no path of its own, or cannot be made": {map[string]string{"GOCACHE": "off", "CARGO_HOME": "/usr/local/no-such-cargo"}, []string{
			"/home/ada/go/pkg/mod", "/home/ada/.cache/go-build", "/home/ada/.cache/uv", "/home/ada/.npm/_cacache", "/home/ada/.cache/pip",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			for name, v := range clean {
				t.Setenv(name, v)
			}
			for name, v := range c.set {
				t.Setenv(name, v)
			}
			got, err := material(&ir.Epic{})
			if err != nil {
				t.Fatal(err)
			}
			if dirs := lists.Map(got.Caches, func(c wall.Cache) string { return c.Lower }); !slices.Equal(dirs, c.want) {
				t.Errorf("%q, want %q", dirs, c.want)
			}
		})
	}
}
