package effects

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/internal/wall"
	"github.com/ralph-compiler/ralph/ir"
)

// confining is a worker's tools whose epic has the sandbox "default", which this machine
// makes of namespaces.
func confining(t *testing.T, box ir.Sandbox) *Tools {
	t.Helper()
	epic := executortest.Epic([]string{"1.1"}, func(e *ir.Epic) { e.Sandboxes = map[string]ir.Sandbox{"default": box} })
	return &Tools{Epic: epic, State: t.TempDir(), Confinement: Confinement{
		Kinds: map[string]wall.Kind{"default": wall.Namespaces}, Home: "/home/ada", Caches: []wall.Cache{{Lower: "/home/ada/go/pkg/mod", Downloads: true}},
		Mounts: func(dir string) ([]wall.Mount, error) { return []wall.Mount{{From: dir, Write: true}}, nil },
	}}
}

func TestASandboxHoldsWhatItsBlockSays(t *testing.T) {
	box := ir.Sandbox{
		Kind: "auto", Network: []string{"example.com"}, Read: []string{"~/tool", "/srv/data/fixed"}, Write: []string{"/srv/data"}, Hide: []string{"/srv/data/keys"},
		Cache: []string{"~/.cache/x"}, Services: []string{"127.0.0.1:5432"}, Limits: map[string]string{"file": "1000000"}, Nest: true,
	}
	tools := confining(t, box)
	in := ir.Confined{Name: "default", Sandbox: box, Network: box.Network}
	c, err := tools.confine(stay{in: in, who: "coder", node: "bd-1", dir: "/w"})
	if err != nil {
		t.Fatal(err)
	}
	want := []wall.Mount{
		{From: "/home/ada/tool", Optional: true}, {From: "/srv/data", Write: true, Optional: true}, {From: "/srv/data/fixed", Optional: true}, {From: "/w", Write: true}, {At: "/srv/data/keys", Cover: true},
	}
	if len(c.Mounts) != len(want) {
		t.Fatalf("mounts: %+v", c.Mounts)
	}
	for i, m := range want {
		if c.Mounts[i] != m {
			t.Errorf("mount %d: %+v, want %+v", i, c.Mounts[i], m)
		}
	}
	if len(c.Caches) != 2 || c.Caches[1].Lower != "/home/ada/.cache/x" || !strings.HasPrefix(c.Caches[0].Upper, tools.State) {
		t.Errorf("caches: %+v", c.Caches)
	}
	if len(c.Forward) != 1 || c.Egress == nil || c.Egress.Hosts[0] != "example.com" || c.Limits.File != 1_000_000 || !c.Nest {
		t.Errorf("%+v", c.Spec)
	}
	c.Egress.Refused(wall.Denial{Host: "a:443"})
	c.Egress.Refused(wall.Denial{Host: "b:443"})
	c.Egress.Refused(wall.Denial{Host: "b:443"})
	if got := c.account(); executor.RefusedHosts(got.Refused, got.Others) != "2 × b:443, 1 × a:443" {
		t.Errorf("refused: %q", got.Refused)
	}
}

func TestNobodySharesAHome(t *testing.T) {
	tools := confining(t, ir.Sandbox{Kind: "auto"})
	in := ir.Confined{Name: "default"}
	homes := map[string]bool{}
	for _, s := range []stay{
		{in: in, whose: ofAgent, who: "gate-unit", node: "bd-1"},
		{in: in, whose: ofAgent, who: "gate.unit", node: "bd-1"},
		{in: in, whose: ofAgent, who: "gate-unit", node: "bd-2"},
		{in: in, whose: ofGate, who: "unit", node: "bd-1"},
		{in: in, whose: ofGate, who: "gate-unit", node: "bd-1"},
		{in: in, whose: ofSetup, node: "bd-1"},
	} {
		c, err := tools.confine(s)
		if err != nil {
			t.Fatal(err)
		}
		if homes[c.Home] {
			t.Errorf("%+v has the home of another", s)
		}
		homes[c.Home] = true
	}
}

func TestWhatAGateWritesGoesWithIt(t *testing.T) {
	tools := confining(t, ir.Sandbox{Kind: "auto"})
	c, err := tools.confine(stay{in: ir.Confined{Name: "default"}, whose: ofGate, who: "unit", node: "bd-1", brief: true})
	if err != nil {
		t.Fatal(err)
	}
	closed := filepath.Join(c.Caches[0].Upper, "mod@v1")
	if err := os.MkdirAll(filepath.Join(closed, "below"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{filepath.Join(closed, "below"), closed} { // as Go makes the directories of modules
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.done(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(c.Home); !os.IsNotExist(err) {
		t.Errorf("its home is there: %v", err)
	}
}

func TestNothingIsConfinedWhereNothingIsMade(t *testing.T) {
	tools := confining(t, ir.Sandbox{Kind: "auto"})
	tools.Confinement.Kinds = map[string]wall.Kind{"default": wall.None}
	c, err := tools.confine(stay{in: ir.Confined{Name: "default"}, who: "coder", node: "bd-1"})
	said := c.account()
	if err != nil || c.spec() != nil || c.done() != nil || said.Confined() || said == nil || said.Name != "default" { // which is on record
		t.Errorf("%+v, %+v, %v", c, said, err)
	}
	c, err = tools.confine(stay{who: "coder", node: "bd-1"}) // the policy names none
	if err != nil || c.spec() != nil || c.done() != nil || c.account() != nil {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestAnOfflineNodeReachesItsModelAlone: whatever the policy lists.
func TestAnOfflineNodeReachesItsModelAlone(t *testing.T) { // L3-01
	tools := confining(t, ir.Sandbox{Kind: "auto"})
	hosts := []string{"model", "example.com"}
	for _, c := range []struct {
		offline bool
		agent   string
		hosts   []string
		want    string
	}{
		{false, "coder", hosts, "model example.com"},
		{true, "coder", hosts, "model"},
		{true, "coder", []string{"api.example.com"}, "api.example.com"}, // which may be the model's
		{true, "", []string{"example.com"}, ""},
	} {
		tools.Epic.Nodes[0].Offline = c.offline
		box, err := tools.confine(stay{in: ir.Confined{Name: "default", Network: c.hosts}, whose: ofAgent, who: "coder", agent: c.agent, node: tools.Epic.Nodes[0].ID})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if box.Egress != nil {
			got = strings.Join(box.Egress.Hosts, " ")
		}
		if got != c.want {
			t.Errorf("%+v: it reaches %q", c, got)
		}
	}
}
