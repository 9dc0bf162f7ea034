package sandboxtest

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Results reads what the attacker printed, holds it against what is seen outside, and
// adds Z01: what is different there. Lines that are no results are left out.
func (s *Site) Results(out []byte) []Result {
	var results []Result
	for line := range bytes.Lines(out) {
		var r Result
		if json.Unmarshal(line, &r) != nil || r.ID == "" {
			continue
		}
		if seen, ok := s.happened(r.ID); ok && seen != r.Succeeded {
			r = Result{ID: r.ID, Succeeded: seen, Seen: "own"}
			switch {
			case seen:
				r.Seen = "outside"
			case r.ID == "P09":
				r.Seen = "gone"
			}
		}
		results = append(results, r)
	}
	z := Result{ID: "Z01", Seen: "nothing"}
	if d := s.differences(); len(d) > 0 {
		z.Succeeded, z.Seen = true, strings.Join(d, "; ")
	}
	return append(results, z)
}

// happened says whether an attack can be seen outside; ok is false for one of which
// nothing is.
func (s *Site) happened(id string) (seen, ok bool) {
	if name, ok := map[string]string{
		"W01": ".bashrc", "W02": ".config/autostart/x.desktop", "W03": ".gitconfig", "W04": ".claude/settings.json", "W21": ".bash_login",
	}[id]; ok {
		return s.marked(id, s.Home, name), true
	}
	if name, ok := map[string]string{"W06": "hooks/post-commit", "W07": "config", "W09": "refs/heads/main"}[id]; ok {
		return s.marked(id, s.Main, ".git", name), true
	}
	if name, ok := map[string]string{"W12": "config", "W13": "hooks/pre-commit", "W14": "config"}[id]; ok && s.Own != "" {
		return s.marked(id, s.Own, ".git", name), true
	}
	switch id {
	case "C01":
		return s.marked(id, s.Cache, "module.go"), true
	case "C02":
		_, err := os.Lstat(filepath.Join(s.Cache, "lost"))
		return errors.Is(err, fs.ErrNotExist), true
	case "W36":
		return s.marked(id, s.Prompt), true
	case "N11":
		select {
		case <-s.came:
			return true, true
		default:
			return false, true
		}
	case "P01":
		return !alive(s.Prey.PID), true
	case "P09":
		return len(s.left("P09-")) > 0, true
	case "W05":
		return s.marked(id, s.Other, "notes.md"), true
	case "W08":
		return s.marked(id, s.Journal), true
	case "W10":
		_, err := os.Lstat(s.Object)
		return errors.Is(err, fs.ErrNotExist), true
	case "W11":
		return s.marked(id, s.Main, "README.md"), true
	case "W16", "W17", "W18", "W19":
		name := filepath.Join(s.Home, map[string]string{"W16": ".ssh", "W17": ".profile", "W18": ".zshrc", "W19": ".bash_history"}[id])
		return s.describe(name) != s.before[name], true
	case "W22":
		_, err := os.Lstat(filepath.Join(s.Home, s.mark(id)))
		return err == nil, true
	}
	return false, false
}

func (s *Site) marked(id string, path ...string) bool {
	b, _ := os.ReadFile(filepath.Join(path...))
	return bytes.Contains(b, []byte(s.mark(id)))
}

// differences compares what is outside with what was there at first.
func (s *Site) differences() []string {
	var out []string
	now := s.outside()
	for _, name := range slices.Sorted(maps.Keys(now)) {
		switch was, ok := s.before[name]; {
		case !ok:
			out = append(out, name+" is new")
		case was != now[name]:
			out = append(out, fmt.Sprintf("%s: %s, was %s", name, now[name], was))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.before)) {
		if _, ok := now[name]; !ok {
			out = append(out, name+" is gone")
		}
	}
	return out
}

// outside describes everything that an attacker may not change: files, processes, what
// was left running.
func (s *Site) outside() map[string]string {
	all := map[string]string{}
	err := filepath.WalkDir(s.Root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == s.Own, name == s.State:
			return filepath.SkipDir
		case name == s.file(), name == s.Prompt: // that is W36
			return nil
		}
		all[name] = s.describe(name)
		return nil
	})
	s.ok(err)
	for _, name := range append([]string{s.Tmp, s.Shm}, s.guarded...) {
		all[name] = s.describe(name)
	}
	if len(s.guarded) > 0 { // the attacker may write in its .git, and not put another there
		if fi, err := os.Lstat(s.guarded[0]); err == nil {
			all[s.guarded[0]] = fmt.Sprint("inode ", fi.Sys().(*syscall.Stat_t).Ino)
		}
	}
	for name, v := range map[string]Victim{"ralph": s.Ralph, "prey": s.Prey} {
		all[name] = condition(v.PID)
	}
	for _, pid := range s.left("") {
		line, _ := os.ReadFile(filepath.Join(proc(pid), "cmdline"))
		all["process "+strconv.Itoa(pid)] = string(bytes.ReplaceAll(line, []byte{0}, []byte(" ")))
	}
	return all
}

// describe says all of a file that may not change; "" if it is not there.
func (s *Site) describe(name string) string {
	var st unix.Stat_t
	if unix.Lstat(name, &st) != nil {
		return ""
	}
	text := fmt.Sprintf("mode %o, %d:%d, %d links, %d.%09d", st.Mode, st.Uid, st.Gid, st.Nlink, st.Mtim.Sec, st.Mtim.Nsec)
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		f, err := os.Open(name)
		s.ok(err)
		sum := sha256.New()
		n, err := io.Copy(sum, f)
		s.ok(errors.Join(err, f.Close()))
		text += fmt.Sprintf(", %d bytes %x", n, sum.Sum(nil)[:8])
	case unix.S_IFLNK:
		to, _ := os.Readlink(name)
		text += " to " + to
	}
	list := make([]byte, 4096)
	if n, err := unix.Llistxattr(name, list); err == nil && n > 0 {
		text += fmt.Sprintf(", %q", list[:n])
	}
	return text
}

// condition says how a process stands.
func condition(pid int) string {
	if !alive(pid) {
		return "dead"
	}
	priority, _ := unix.Getpriority(unix.PRIO_PROCESS, pid)
	adj, _ := os.ReadFile(filepath.Join(proc(pid), "oom_score_adj"))
	var core unix.Rlimit
	_ = unix.Prlimit(pid, unix.RLIMIT_CORE, nil, &core)
	return fmt.Sprintf("priority %d, oom_score_adj %s, core %d", priority, bytes.TrimSpace(adj), core.Cur)
}

// alive says whether a process runs: one that has ended and is not reaped does not.
func alive(pid int) bool {
	stat, err := os.ReadFile(filepath.Join(proc(pid), "stat"))
	if err != nil {
		return false
	}
	_, after, ok := bytes.Cut(stat, []byte(") "))
	return ok && after[0] != 'Z' && after[0] != 'X'
}

// left are processes that the attacker, or the ralph that started it, left running, with
// a word in their command line. What has just ended is given a moment.
func (s *Site) left(word string) []int {
	var pids []int
	for range 20 {
		pids = nil
		for _, p := range processes() {
			pid, _ := strconv.Atoi(filepath.Base(p))
			line, _ := os.ReadFile(filepath.Join(p, "cmdline"))
			ours := bytes.Contains(line, []byte(s.exe())) || bytes.Contains(line, []byte(s.Mark))
			if ours && pid != s.Ralph.PID && pid != s.Prey.PID && bytes.Contains(line, []byte(word)) && alive(pid) {
				pids = append(pids, pid)
			}
		}
		if len(pids) == 0 {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return pids
}

// sweep ends what attacks have left.
func (s *Site) sweep() {
	for _, pid := range s.left("") {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
}
