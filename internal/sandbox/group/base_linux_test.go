package group

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// machine is a place whose group "/a/b" is that of this process, which is alone in it. files
// are put there, or where they say.
func machine(t *testing.T, files map[string]string) place {
	t.Helper()
	top := t.TempDir()
	p := place{root: filepath.Join(top, "cgroup"), self: filepath.Join(top, "self"), pid: os.Getpid()}
	put := func(at, text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	put(p.self, "0::/a/b\n")
	for name, text := range map[string]string{
		"/cgroup.controllers": "cpuset cpu io memory pids", "/a/b/cgroup.controllers": "cpu memory pids", "/a/b/cgroup.subtree_control": "",
		"/a/b/cgroup.procs": strconv.Itoa(p.pid) + "\n", "/a/b/ralph/cgroup.procs": "",
	} {
		put(p.root+name, text)
	}
	for name, text := range files {
		if name == "self" {
			put(p.self, text)
		} else {
			put(p.root+name, text)
		}
	}
	return p
}

func TestABaseIsMadeOnlyOfAGroupOfItsOwn(t *testing.T) {
	need := []Controller{Memory, CPU}
	for name, c := range map[string]struct {
		files map[string]string
		want  string // of the error; "" is none
		other bool   // systemd may have one
	}{
		"alone, with what it needs":      {nil, "", false},
		"a machine with both versions":   {map[string]string{"self": "5:memory:/x\n1:name=systemd:/y\n0::/a/b\n"}, "", false},
		"it shares the group":            {map[string]string{"/a/b/cgroup.procs": strconv.Itoa(os.Getpid()) + "\n1\n"}, "not alone in its group (/a/b)", true},
		"a controller is not there":      {map[string]string{"/a/b/cgroup.controllers": "memory pids"}, "was not given the controller cpu", true},
		"only version 1 has controllers": {map[string]string{"self": "5:memory:/x\n"}, "no cgroup v2", false},
	} {
		t.Run(name, func(t *testing.T) {
			p := machine(t, c.files)
			dir, err := p.base(need)
			l, lacks := errors.AsType[*Lacking](err)
			switch {
			case c.want == "" && (err != nil || dir != p.root+"/a/b"):
				t.Errorf("%q, %v", dir, err)
			case c.want != "" && (!lacks || !strings.Contains(l.Why, c.want) || l.elsewhere != c.other):
				t.Errorf("%q, %#v, want %q", dir, err, c.want)
			}
			in, err := os.ReadFile(p.root + "/a/b/ralph/cgroup.procs")
			if moved := string(in) == strconv.Itoa(p.pid); err != nil || moved != (c.want == "") {
				t.Errorf("it is in the leaf: %v (%v)", moved, err)
			}
		})
	}
}

func TestAMachineWithoutVersion2IsRefused(t *testing.T) {
	p := machine(t, nil)
	if err := os.Remove(p.root + "/cgroup.controllers"); err != nil {
		t.Fatal(err)
	}
	_, err := p.base([]Controller{Memory})
	if l, ok := errors.AsType[*Lacking](err); !ok || !strings.Contains(l.Error(), "unified_cgroup_hierarchy") {
		t.Errorf("%v", err)
	}
}

// TestABaseIsFoundAgain: by who asks twice, and by a ralph that another has started.
func TestABaseIsFoundAgain(t *testing.T) {
	p := machine(t, map[string]string{"self": "0::/a/b/ralph\n", "/a/b/cgroup.subtree_control": "cpu memory pids\n", "/a/b/cgroup.procs": "", "/a/b/ralph/cgroup.procs": "1\n2\n"})
	if dir, err := p.base([]Controller{Memory}); err != nil || dir != p.root+"/a/b" {
		t.Errorf("%q, %v", dir, err)
	}
}

func TestGroupsOfADeadRalphAreRemoved(t *testing.T) {
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	p := machine(t, nil)
	dead := "ralph-" + strconv.Itoa(gone.Process.Pid) + "-1"
	names := map[string]bool{dead: false, "ralph-" + strconv.Itoa(os.Getppid()) + "-1": true, "ralph-x": true, "other-1": true, "ralph": true}
	for name := range names {
		if err := os.MkdirAll(filepath.Join(p.root, "a/b", name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.base(nil); err != nil {
		t.Fatal(err)
	}
	for name, stays := range names {
		if _, err := os.Stat(filepath.Join(p.root, "a/b", name)); (err == nil) != stays {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCounted(t *testing.T) {
	b := []byte("low 0\noom 1\noom_kill 12\n")
	for name, want := range map[string]int{"oom": 1, "oom_kill": 12, "low": 0, "none": 0} {
		if got := counted(b, name); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
}
