package run

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/internal/sandbox"
	"github.com/ralph-compiler/ralph/internal/wall"
	"github.com/ralph-compiler/ralph/ir"
)

// off is the answer of a machine on which no sandbox of a kind can be made.
func off(kind wall.Kind) func() error {
	return func() error { return &sandbox.Unavailable{Kind: kind, Why: "it is off", Mend: "mend " + string(kind)} }
}

// auto takes the first kind that works, and says of all of them why nothing does.
func TestAutoTakesTheFirstKindThatWorks(t *testing.T) {
	t.Parallel()
	ok := func() error { return nil }
	works := attempts{wall.Namespaces: ok, wall.Bwrap: func() error { return errors.New("it was tried, and not needed") }}
	lacks := attempts{wall.Namespaces: off(wall.Namespaces), wall.Bwrap: ok}
	none := attempts{wall.Namespaces: off(wall.Namespaces), wall.Bwrap: off(wall.Bwrap), wall.Landlock: off(wall.Landlock)}
	less := attempts{wall.Namespaces: off(wall.Namespaces), wall.Bwrap: off(wall.Bwrap), wall.Landlock: ok}
	for _, c := range []struct {
		on     attempts
		kind   string
		accept string
		want   wall.Kind
		says   []string
	}{
		{works, "auto", "", wall.Namespaces, nil},
		{lacks, "auto", "", wall.Bwrap, nil},
		{lacks, "bwrap", "", wall.Bwrap, nil},
		{lacks, "namespaces", "", "", []string{"mend namespaces"}},
		{none, "auto", "", "", []string{"mend namespaces", "mend bwrap"}},
		{works, "auto", "landlock", wall.Namespaces, nil},
		{less, "auto", "landlock", wall.Landlock, nil},
		{less, "landlock", "", wall.Landlock, nil},
		{less, "auto", "", "", []string{"mend namespaces", "mend bwrap", `or write accept = "landlock"`}},
		{none, "auto", "landlock", "", []string{"mend bwrap", "mend landlock"}},
		{works, "bwrap", "", "", []string{"not needed"}},
	} {
		got, err := c.on.strongest(c.kind, c.accept)
		if got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s: %s, %v; want %q", c.kind, got, err, c.want)
		}
		for _, want := range c.says {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v does not say %q", c.kind, err, want)
			}
		}
	}
}

// OpenCode listens, which nothing does in a sandbox of landlock: it is refused for work, and for a greeting.
func TestOpenCodeIsRefusedWhereNothingListens(t *testing.T) {
	t.Parallel()
	epic := &ir.Epic{
		Sandboxes: map[string]ir.Sandbox{"default": {Kind: "landlock"}},
		Runners:   map[string]ir.Runner{"served": {Kind: "opencode"}, "acp": {Kind: "acp", Run: []string{"/usr/bin/opencode", "acp"}}, "other": {Kind: "acp", Run: []string{"other"}}, "claude": {Kind: "claude"}},
		Agents:    map[string]ir.Agent{"served": {Runner: "served"}, "acp": {Runner: "acp"}, "other": {Runner: "other"}, "claude": {Runner: "claude"}},
	}
	for agent, refused := range map[string]bool{"served": true, "acp": true, "other": false, "claude": false} {
		epic.Nodes = []ir.Node{{Steps: []ir.Step{{Agent: agent, Sandbox: "default"}}}}
		if err := holds(epic, "default"); (err != nil) != refused {
			t.Errorf("at work, agent %s: %v", agent, err)
		}
		if _, err := sandbox.Try(t.Context(), wall.Landlock); err != nil {
			continue
		}
		if _, err := GreetingWall(t.Context(), epic, agent, t.TempDir(), t.TempDir()); (err != nil && strings.Contains(err.Error(), "OpenCode has to")) != refused {
			t.Errorf("a greeting, agent %s: %v", agent, err)
		}
	}
}

// uv takes no cache that it cannot write to: without overlays it gets one of its own.
func TestTheCacheOfUvCanBeWritten(t *testing.T) {
	t.Setenv("HOME", "/home/ann")
	c, err := material(&ir.Epic{})
	if err != nil {
		t.Fatal(err)
	}
	if want := (wall.Cache{Lower: "/home/ann/.cache/uv"}); !slices.Contains(c.Caches, want) {
		t.Errorf("caches are %+v", c.Caches)
	}
}
