package sandboxtest

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Site is a world with what the test knows of it: its processes and servers run until
// the test ends.
type Site struct {
	World
	t       testing.TB
	uid     int
	before  map[string]string // of what is outside
	guarded []string          // files of the attacker's clone that belong to the outside
	came    chan struct{}     // closed once the host got through to World.Open
}

// Build makes a world that belongs to a user: root may make it for others, nobody else
// may. TMPDIR, or /tmp, must be open to that user.
func Build(t testing.TB, uid int) *Site {
	t.Helper()
	root, err := os.MkdirTemp("", "ralph-attacks-")
	s := &Site{t: t, uid: uid, came: make(chan struct{})}
	s.ok(err)
	t.Cleanup(func() {
		_ = os.Chmod(filepath.Join(s.State, "cache.work", "work"), 0o700) // overlayfs leaves a directory without permissions
		s.ok(os.RemoveAll(root))
	})
	s.ok(os.Chmod(root, 0o755))
	root, err = filepath.EvalSymlinks(root)
	s.ok(err)
	home := filepath.Join(root, "home", "ann")
	main := filepath.Join(home, "src", "main")
	s.World = World{
		Mark: random(), Secret: "secret-" + random(), Root: root,
		Home: home, Cache: filepath.Join(home, "go", "mod"), State: filepath.Join(root, "state"),
		Main: main, Journal: filepath.Join(main, ".git", "ralph", "journal.db"),
		Own: filepath.Join(home, "src", "trees", "own"), Other: filepath.Join(home, "src", "trees", "other"),
		Project: filepath.Join(home, "src", "project"), Tools: filepath.Join(home, "src", "tools"),
		TmpSize: 128 << 20, FileSize: 256 << 20, Processes: 300,
		Top: "/", Shadow: "/etc/shadow", Bin: "/usr/local/bin", Cron: cron(),
		CorePattern: "/proc/sys/kernel/core_pattern", SysRq: "/proc/sysrq-trigger",
		Dev: "/dev", Init: "/proc/1", Disks: disksOutside(), Cgroups: cgroupsOutside(),
	}
	s.files()
	s.repositories()
	s.binary()
	s.give()
	s.sharedMemory()
	s.Ralph, s.Prey = s.victim(), s.victim()
	s.serve()
	s.tell()
	git := filepath.Join(s.Own, ".git")
	s.guarded = []string{git, filepath.Join(git, "config"), filepath.Join(git, "hooks"), filepath.Join(git, "hooks", "pre-commit")}
	s.before = s.outside()
	t.Cleanup(s.sweep)
	return s
}

// cron is a directory from which root starts what lies there; a machine without cron has one
// for the shells of logins.
func cron() string {
	if st, err := os.Stat("/etc/cron.d"); err == nil && st.IsDir() {
		return "/etc/cron.d"
	}
	return "/etc/profile.d"
}

func random() string {
	b := make([]byte, 8)
	_, _ = rand.Read(b) // it never fails
	return hex.EncodeToString(b)
}

func (s *Site) ok(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// put writes a file, with the directories above it.
func (s *Site) put(text string, path ...string) string {
	s.t.Helper()
	name := filepath.Join(path...)
	s.ok(os.MkdirAll(filepath.Dir(name), 0o755))
	s.ok(os.WriteFile(name, []byte(text), 0o644))
	return name
}

// files makes the home directory, and what lies about outside.
func (s *Site) files() {
	s.put(s.Secret, s.Home, ".ssh/id_ed25519")
	s.put(s.Secret, s.Home, ".aws/credentials")
	for _, name := range []string{".bashrc", ".gitconfig", ".claude/settings.json", ".profile", ".zshrc", ".bash_history", ".bash_login"} {
		s.put("# mine\n", s.Home, name)
	}
	s.put("", s.Home, "letters")
	s.put(s.Secret, s.Project, "notes.md")
	s.put(s.Secret, s.Tools, ".env")
	s.Prompt = s.put("Be good.\n", s.Root, "prompt")
	s.put("#!/bin/sh\n", s.Tools, "bin", "tool")
	s.put("package module\n", s.Cache, "module.go")
	s.put("", s.Cache, "lost")
	s.ok(os.MkdirAll(filepath.Join(s.State, "home"), 0o755))
	s.put(s.Secret, s.Root, "held")
	s.Unix = filepath.Join(s.Home, "docker.sock")

	for _, dir := range []string{"/tmp", "/dev/shm"} {
		f, err := os.CreateTemp(dir, "ralph-attacked-")
		s.ok(err)
		s.t.Cleanup(func() { _ = os.Remove(f.Name()) })
		_, err = f.WriteString(s.Secret)
		s.ok(err)
		s.ok(f.Chmod(0o644))
		s.ok(f.Close())
		if dir == "/tmp" {
			s.Tmp = f.Name()
		} else {
			s.Shm = f.Name()
		}
	}
}

// repositories makes the user's repository, a clone of it as a confined node has one,
// and another worktree.
func (s *Site) repositories() {
	s.ok(os.MkdirAll(s.Main, 0o755))
	s.put("[safe]\n\tdirectory = *\n", s.Root, ".gitconfig") // root makes what belongs to somebody else
	s.git(s.Main, "init", "-q", "-b", "main")
	s.git(s.Main, "config", "remote.origin.url", "https://ann:"+s.Secret+"@example.invalid/main.git")
	s.put("# Main\n", s.Main, "README.md")
	s.git(s.Main, "add", ".")
	s.git(s.Main, "-c", "user.name=ann", "-c", "user.email=ann@example.invalid", "commit", "-qm", "first")
	s.git(s.Main, "worktree", "add", "-q", "-b", "other", s.Other)
	s.put(s.Secret, s.Other, "notes.md")
	s.git(s.Main, "clone", "-q", "--shared", ".", s.Own)
	s.ok(os.MkdirAll(filepath.Join(s.Own, ".git", "hooks"), 0o755))
	s.ok(os.MkdirAll(filepath.Join(s.Main, ".git", "hooks"), 0o755))
	s.put(s.Secret, s.Own, ".env")
	s.put(s.Secret, s.Journal)
	s.lose()
}

// lose leaves an object in Main that nobody needs.
func (s *Site) lose() {
	id := s.git(s.Main, "hash-object", "-w", s.put(s.Mark, s.Root, "lost"))
	s.Object = filepath.Join(s.Main, ".git", "objects", id[:2], id[2:])
}

// Adopt attacks another repository than the one that was built: that of a run, whose state
// is in a directory of its own. The attacker's worktree is then the directory in which it
// is started; whoever knows it afterwards sets Own, so that what happened to it counts.
// What becomes of the repository is no part of Z01; what else there is outside still is.
func (s *Site) Adopt(main, state string) {
	s.t.Helper()
	s.Main, s.Own = main, ""
	s.Journal = s.put(s.Secret, state, "attacked")
	s.git(s.Main, "config", "remote.attacked.url", "https://ann:"+s.Secret+"@example.invalid/main.git")
	s.lose()
	s.tell()
	s.guarded = nil
	s.before = s.outside()
}

func (s *Site) git(dir string, args ...string) string {
	s.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.Root, "GIT_CONFIG_NOSYSTEM=1"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// binary copies the test binary to where the user can start it.
func (s *Site) binary() {
	exe, err := os.Executable()
	s.ok(err)
	s.put("", s.exe())
	from, err := os.Open(exe)
	s.ok(err)
	defer from.Close()
	syscall.ForkLock.RLock() // a child of another test that has it open for writing keeps it from being started
	defer syscall.ForkLock.RUnlock()
	to, err := os.OpenFile(s.exe(), os.O_WRONLY, 0)
	s.ok(err)
	_, err = io.Copy(to, from) // a test that measures memory may run beside this one
	s.ok(errors.Join(err, to.Close(), os.Chmod(s.exe(), 0o755)))
	s.put("{}", s.file())
}

// give gives all files to the user, but for a program that belongs to somebody else.
func (s *Site) give() {
	if os.Getuid() != 0 || s.uid == 0 {
		return
	}
	s.ok(filepath.WalkDir(s.Root, func(name string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(name, s.uid, s.uid)
	}))
	s.ok(os.Lchown(s.Tmp, s.uid, s.uid))
	s.ok(os.Lchown(s.Shm, s.uid, s.uid))
	const daemon = 1
	id, err := exec.LookPath("id")
	s.ok(err)
	b, err := os.ReadFile(id)
	s.ok(err)
	s.SetUID = s.put(string(b), s.Root, "bin", "id")
	s.ok(os.Chown(s.SetUID, daemon, daemon))
	s.ok(os.Chmod(s.SetUID, 0o755|fs.ModeSetuid))
}

// tell writes what the attacker reads. Everything in it is final once it was called.
func (s *Site) tell() {
	b, err := json.MarshalIndent(s.World, "", " ")
	s.ok(err)
	s.ok(os.WriteFile(s.file(), b, 0o644))
}

func (s *Site) sharedMemory() {
	id, err := unix.SysvShmGet(unix.IPC_PRIVATE, 4096, 0o666)
	s.ok(err)
	s.t.Cleanup(func() { _, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) })
	b, err := unix.SysvShmAttach(id, 0, 0)
	s.ok(err)
	copy(b, s.Secret)
	s.ok(unix.SysvShmDetach(b))
	s.SysV = id
}

// as returns how a program is started as the world's user, in a session of its own: no
// attack reaches the terminal of whoever tests.
func (s *Site) as() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setsid: true}
	if os.Getuid() == 0 && s.uid != 0 {
		attr.Credential = &syscall.Credential{Uid: uint32(s.uid), Gid: uint32(s.uid)}
	}
	return attr
}

// victim starts a process that the attacker is after.
func (s *Site) victim() Victim {
	cmd := exec.Command(s.exe(), roleVictim, filepath.Join(s.Root, "held"))
	cmd.Env = []string{"TOKEN=" + s.Secret, "HOME=" + s.Home} // a child without a home is taken for what an agent has left
	cmd.SysProcAttr = s.as()
	in, err := cmd.StdinPipe()
	s.ok(err)
	out, err := cmd.StdoutPipe()
	s.ok(err)
	s.ok(cmd.Start())
	s.t.Cleanup(func() {
		_ = in.Close()
		timer := time.AfterFunc(5*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		timer.Stop()
	})
	var v Victim
	s.ok(json.NewDecoder(out).Decode(&v))
	return v
}

func disksOutside() []string {
	names, _ := filepath.Glob("/sys/block/*")
	for i, n := range names {
		names[i] = "/dev/" + filepath.Base(n)
	}
	return names
}

// cgroupsOutside are the group of this process, and those at the top.
func cgroupsOutside() []string {
	dirs, _ := filepath.Glob("/sys/fs/cgroup/*")
	dirs = append(dirs, "/sys/fs/cgroup")
	b, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(b)) {
		if f := strings.SplitN(strings.TrimSpace(line), ":", 3); len(f) == 3 {
			dirs = append(dirs, filepath.Join("/sys/fs/cgroup", f[2]), filepath.Join("/sys/fs/cgroup", f[1], f[2]))
		}
	}
	return dirs
}
