package ir

import (
	"strings"
	"testing"
)

// Every way in which a sandbox may come to hold less is named, and none in which it holds
// as much.
func TestASandboxThatHoldsLess(t *testing.T) {
	base := func() Sandbox {
		return Sandbox{
			Kind: "auto", Network: []string{"model", "*.example.com"}, Read: []string{"/opt", "~/.config/tool"}, Write: []string{"/srv/out"},
			Cache: []string{"~/.npm"}, Hide: []string{"/opt/keys"}, Required: true,
			Limits: map[string]string{"memory": "4000000000", "cpu": "200", "pids": "512"},
		}
	}
	limit := func(name, v string) func(s *Sandbox) { return func(s *Sandbox) { s.Limits[name] = v } }
	for _, c := range []struct {
		what string
		edit func(s *Sandbox)
		want string
	}{
		{"nothing", func(*Sandbox) {}, ""},
		{"off", func(s *Sandbox) { s.Kind, s.Nest = "none", true }, "kind auto → none"},
		{"to landlock", func(s *Sandbox) { s.Kind = "landlock" }, "kind auto → landlock"},
		{"to bwrap", func(s *Sandbox) { s.Kind = "bwrap" }, ""},
		{"to namespaces", func(s *Sandbox) { s.Kind = "namespaces" }, ""},
		{"accept", func(s *Sandbox) { s.Accept = "landlock" }, "may be landlock where nothing more can be had (accept)"},
		{"required", func(s *Sandbox) { s.Required = false }, "one machine may do without it (required)"},
		{"nest", func(s *Sandbox) { s.Nest = true }, "programs inside may make sandboxes of their own (nest)"},
		{"a host", func(s *Sandbox) { s.Network = append(s.Network, "example.org") }, "may reach example.org"},
		{"a host that was reached", func(s *Sandbox) { s.Network = append(s.Network, "A.example.com", "*.b.example.com") }, ""},
		{"the domain itself was not", func(s *Sandbox) { s.Network = append(s.Network, "example.com") }, "may reach example.com"},
		{"another domain that ends alike", func(s *Sandbox) { s.Network = append(s.Network, "badexample.com") }, "may reach badexample.com"},
		{"a port of a host", func(s *Sandbox) { s.Network = append(s.Network, "a.example.com:22") }, "may reach a.example.com:22"},
		{"any host", func(s *Sandbox) { s.Network = []string{"*"} }, "may reach *"},
		{"fewer hosts", func(s *Sandbox) { s.Network = nil }, ""},
		{"a service", func(s *Sandbox) { s.Services = []string{"127.0.0.1:5432"} }, "may reach the service 127.0.0.1:5432"},
		{"a place to write", func(s *Sandbox) { s.Write = append(s.Write, "/opt/x") }, "may write /opt/x"},
		{"a place to write below another", func(s *Sandbox) { s.Write = append(s.Write, "/srv/out/x") }, ""},
		{"a wider place to write", func(s *Sandbox) { s.Write = []string{"/srv"} }, "may write /srv"},
		{"a place to read", func(s *Sandbox) { s.Read = append(s.Read, "~/.ssh") }, "may read ~/.ssh"},
		{"a place that begins alike", func(s *Sandbox) { s.Read = append(s.Read, "/optional") }, "may read /optional"},
		{"a place to read that was written", func(s *Sandbox) { s.Read = append(s.Read, "/srv/out") }, ""},
		{"a cache", func(s *Sandbox) { s.Cache = append(s.Cache, "~/go") }, "may read the cache ~/go"},
		{"fewer places", func(s *Sandbox) { s.Read, s.Write, s.Cache = nil, nil, nil }, ""},
		{"shown", func(s *Sandbox) { s.Hide = nil }, "sees /opt/keys"},
		{"more hidden", func(s *Sandbox) { s.Hide = append(s.Hide, "/opt/more") }, ""},
		{"what held it hidden is hidden", func(s *Sandbox) { s.Hide = []string{"/opt/keys/"} }, ""},
		{"neither hidden nor shown", func(s *Sandbox) { s.Hide, s.Read = nil, nil }, ""},
		{"more memory", limit("memory", "8000000000"), "limit memory 4GB → 8GB"},
		{"less memory", limit("memory", "1500000000"), ""},
		{"no limit of memory", func(s *Sandbox) { delete(s.Limits, "memory") }, "limit memory 4GB → none"},
		{"more cpu", limit("cpu", "400"), "limit cpu 200% → 400%"},
		{"more processes", func(s *Sandbox) { delete(s.Limits, "pids") }, "limit pids 512 → the default"},
		{"a limit that was the default", limit("tmp", "2147483648"), ""},
		{"a limit above the default", limit("file", "5000000000"), "limit file the default → 5GB"},
		{"a new limit", limit("tmp", "1000000"), ""},
	} {
		old, now := base(), base()
		c.edit(&now)
		if got := strings.Join(now.Looser(&old), "; "); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
	lock := Sandbox{Kind: "landlock"}
	for _, now := range []Sandbox{{Kind: "auto"}, {Kind: "auto", Accept: "landlock"}} {
		if got := now.Looser(&lock); got != nil {
			t.Errorf("landlock → %+v: %v", now, got)
		}
	}
	if got := base(); got.Looser(&Sandbox{Kind: "none"}) != nil {
		t.Error("a sandbox holds less than none")
	}
	words, more := Sandbox{Kind: "container", Limits: map[string]string{"memory": "4g"}}, Sandbox{Kind: "container", Limits: map[string]string{"memory": "8g"}}
	if got := strings.Join(more.Looser(&words), "; "); got != "limit memory 4g → 8g" {
		t.Errorf("a container's limit: %q", got)
	}
}

// Where a sandbox held and holds no more, or another one does, is named.
func TestWhatIsNoLongerConfinedIsShown(t *testing.T) {
	for _, c := range []struct {
		what string
		edit func(e *Epic)
		want string
	}{
		{"nothing", func(*Epic) {}, ""},
		{"a step has none", func(e *Epic) { e.Nodes[0].Steps[0].Sandbox = "none" }, "1.1 step s: sandbox default → none"},
		{"a step has a stricter one", func(e *Epic) { e.Nodes[0].Steps[0].Sandbox = "strict" }, ""},
		{"a step has a looser one", func(e *Epic) { e.Nodes[0].Steps[0].Sandbox = "open" }, "1.1 step s: sandbox default → open: programs inside may make sandboxes of their own (nest), may reach *"},
		{"the default is gone", func(e *Epic) {
			delete(e.Sandboxes, "default")
			e.Nodes[0].Steps[0].Sandbox = ""
			e.Gates = map[string]Gate{"unit": {Kind: "command"}}
			e.Run.Worktree.Sandbox = ""
		}, "1.1 step s: sandbox default → none; gate unit: sandbox default → none; setup: sandbox default → none"},
		{
			"its kind is none", func(e *Epic) { e.Sandboxes["default"] = Sandbox{Kind: "none"} },
			"sandbox default: kind auto → none",
		},
		{"a gate has none", func(e *Epic) { e.Gates["unit"] = Gate{Kind: "command", Sandbox: "none"} }, "gate unit: sandbox default → none"},
		{"a gate reaches more", func(e *Epic) {
			e.Gates["unit"] = Gate{Kind: "command", Sandbox: "default", Network: []string{"example.com"}}
		}, "gate unit: may reach example.com"},
		{"a new gate has none", func(e *Epic) { e.Gates["images"] = Gate{Kind: "command", Sandbox: "none"} }, "gate images: sandbox default → none"},
		{"a new gate reaches more", func(e *Epic) {
			e.Gates["images"] = Gate{Kind: "command", Sandbox: "default", Network: []string{"example.com"}}
		}, "gate images: may reach example.com"},
		{"new gates are confined", func(e *Epic) {
			e.Gates["images"] = Gate{Kind: "command", Sandbox: "strict"}
			e.Gates["opinion"] = Gate{Kind: "agent", Sandbox: "default", Network: []string{"model"}}
			e.Gates["people"] = Gate{Kind: "human"}
		}, ""},
		{"a new step has none", func(e *Epic) {
			e.Nodes[0].Steps = append(e.Nodes[0].Steps, Step{Name: "more", Agent: "a", Sandbox: "none"}, Step{Name: "same", Agent: "a", Sandbox: "default"}, Step{Name: "people"})
		}, "1.1 step more: sandbox default → none"},
		{"a new sprint has a looser one", func(e *Epic) {
			e.Nodes = append(e.Nodes, Node{ID: "bd-new", Key: "1.9", Kind: Work, Steps: []Step{{Name: "s", Agent: "a", Sandbox: "open"}}})
		}, "1.9 step s: sandbox default → open: programs inside may make sandboxes of their own (nest), may reach *"},
		{"setup reaches more", func(e *Epic) { e.Run.Worktree.Network = []string{"packages.example.com", "*"} }, "setup: may reach *"},
		{"setup has none", func(e *Epic) { e.Run.Worktree.Sandbox = "none" }, "setup: sandbox strict → none"},
		{
			"the integration has none", func(e *Epic) { e.Epic.Integration.Sandbox = "none" },
			"the integration's conflict agent: sandbox default → none; gate unit of the integration: sandbox default → none",
		},
		{"the integration reaches more", func(e *Epic) { e.Epic.Integration.Network = []string{"*"} }, "gate unit of the integration: may reach *"},
		{"the integration has a stricter one", func(e *Epic) { e.Epic.Integration.Sandbox = "strict" }, ""},
		{"a sandbox allows more", func(e *Epic) {
			e.Sandboxes["default"] = Sandbox{Kind: "auto", Network: []string{"model", "*"}}
		}, "sandbox default: may reach *"},
	} {
		old := confinedEpic()
		old.Sandboxes["open"] = Sandbox{Kind: "auto", Network: []string{"*", "model"}, Nest: true}
		old.Nodes[0].Steps[0].Sandbox, old.Epic.Integration.Gates = "default", []string{"unit"}
		now := confinedEpic()
		now.Sandboxes["open"] = old.Sandboxes["open"]
		now.Nodes[0].Steps[0].Sandbox, now.Epic.Integration.Gates = "default", []string{"unit"}
		if c.what == "the default is gone" {
			old.Gates = map[string]Gate{"unit": old.Gates["unit"]}
			old.Run.Worktree.Sandbox, old.Run.Worktree.Network, now.Run.Worktree.Network = "default", nil, nil
		}
		c.edit(now)
		Seal(old)
		Seal(now)
		var got []string
		for _, w := range Diff(old, now).Weaker {
			line := w.Message
			for _, n := range w.Nodes {
				line = string(n) + " " + line
			}
			if w.Rule != "access-widened" {
				line = w.Rule + ": " + line
			}
			got = append(got, line)
		}
		if said := strings.Join(got, "; "); said != c.want {
			t.Errorf("%s:\n got %q\nwant %q", c.what, said, c.want)
		}
	}
}
