//go:build unix

package process

import (
	"maps"
	"os"
	"slices"
	"testing"
	"time"
)

// far is a number that no process has.
const far = 1 << 26

// TestTheGuardEndsNobodyElse: who has the number, the group or the session of
// somebody who is gone is left alone. execution §8
func TestTheGuardEndsNobodyElse(t *testing.T) {
	const ralphs = far + 1 // session
	line := func(pid, parent, group, session int, start uint64) proc {
		return proc{pid: far + pid, parent: far + parent, group: far + group, session: far + session, start: start}
	}
	for name, c := range map[string]struct {
		table []proc
		want  []int
	}{
		"the program, its group and its descendants": {
			[]proc{line(10, 0, 10, 1, 100), line(11, 10, 10, 1, 101), line(12, 0, 10, 1, 102), line(13, 10, 13, 13, 103), line(14, 0, 13, 13, 104), line(15, 13, 15, 15, 105)},
			[]int{10, 11, 12, 13, 14, 15},
		},
		"a later process with the program's number, and its group": {
			[]proc{line(10, 0, 10, 1, 900), line(11, 10, 10, 1, 901), line(50, 0, 50, 1, 50)}, nil,
		},
		"a group without its leader": {
			[]proc{line(11, 0, 10, 1, 101)}, []int{11},
		},
		"a group of that number in another session": {
			[]proc{line(11, 0, 10, 2, 101)}, nil,
		},
		"a member of the group that is older than the program": {
			[]proc{line(11, 0, 10, 1, 99)}, nil,
		},
		"a descendant that was seen, and its child": {
			[]proc{line(20, 0, 20, 20, 200), line(21, 20, 20, 20, 201)}, []int{20, 21},
		},
		"a later process with the number of one that was seen": {
			[]proc{line(20, 0, 20, 20, 201), line(21, 20, 20, 20, 202)}, nil,
		},
		"an orphan that cleared its environment": {
			[]proc{line(30, 0, 30, 30, 300)}, []int{30},
		},
		"what is dead is not killed, its children are": {
			[]proc{{pid: far + 10, group: far + 10, session: ralphs, start: 100, dead: true}, line(11, 10, 11, 1, 101)}, []int{11},
		},
		"ralph's own session and other people": {
			[]proc{line(10, 0, 10, 1, 100), line(40, 0, 40, 1, 40), line(41, 0, 41, 41, 400)}, []int{10},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := &guard{name: "1-2-x", session: ralphs, began: map[int]*guardedFamily{}, strays: guardedFamily{seen: map[int]uint64{}}}
			for _, w := range []guardWord{
				{verb: wordBegin, pid: far + 10, start: 100},
				{verb: wordSeen, root: far + 10, pid: far + 20, start: 200},
				{verb: wordSeen, pid: far + 30, start: 300},
				{verb: wordBegin, pid: far + 40, start: 40},
				{verb: wordDone, pid: far + 40},
			} {
				read, ok := parseWord(w.append(nil))
				if !ok || read != w {
					t.Fatalf("%+v is read as %+v, %v", w, read, ok)
				}
				g.hear(read)
			}
			all := map[int]proc{}
			for _, p := range c.table {
				all[p.pid] = p
			}
			h := &hunt{guard: g, homes: map[int]bool{}, hit: map[int]proc{}}
			var got []int
			for p, tool := range h.find(all) {
				got = append(got, p.pid-far)
				if tool {
					t.Errorf("%d is called a tool", p.pid-far)
				}
			}
			if slices.Sort(got); !slices.Equal(got, c.want) {
				t.Errorf("%v would be ended, want %v", got, c.want)
			}
		})
	}
	h := &hunt{guard: &guard{name: "1-2-x", session: far}, homes: map[int]bool{}, hit: map[int]proc{}}
	if found := h.find(readTable(nil)); len(found) != 0 {
		t.Errorf("a guard that was told nothing would end %v", slices.Collect(maps.Keys(found)))
	}
}

// TestAToolMayEndByItself: git has a moment to finish what it is at. execution §8
func TestAToolMayEndByItself(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("no /proc")
	}
	self, _ := read(os.Getpid())
	g := &guard{name: guardName(), session: self.session, began: map[int]*guardedFamily{}}
	dir := t.TempDir()
	program := func(script string) *os.Process {
		p, err := os.StartProcess("/bin/sh", []string{"sh", "-c", script}, &os.ProcAttr{Dir: dir, Env: []string{"PATH=" + os.Getenv("PATH"), ToolMark()}})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	quick, stays := program("sleep 0.2; echo well > quick"), program("trap 'echo asked > asked' TERM; : > ready; while :; do sleep 0.05; done")
	for {
		if _, err := os.Stat(dir + "/ready"); err == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	ended := make(chan struct{})
	go func() { _, _ = quick.Wait(); _, _ = stays.Wait(); close(ended) }()
	g.end()
	<-ended // what does not heed SIGTERM, too
	for _, name := range []string{"quick", "asked"} {
		if _, err := os.Stat(dir + "/" + name); err != nil {
			t.Errorf("a tool was ended too soon: %v", err)
		}
	}
}
