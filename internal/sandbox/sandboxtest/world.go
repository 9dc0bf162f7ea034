package sandboxtest

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/ralph-compiler/ralph/internal/wall"
)

// World is what the attacker is told: where the things are that it is after. All of
// them were made for the test, except those of the system, below.
type World struct {
	Mark   string // in the name or text of whatever attacks leave behind
	Secret string // in every file, environment, memory and answer that a sandbox hides
	Root   string // all files but Tmp and Shm are below it

	Home    string // the user's
	Cache   string // the user's, in Home
	State   string // ralph's: it has what a sandbox shows at Home, and what is written to Cache inside
	Own     string // worktree of the attacker: a clone with Main's objects; "" is the attacker's working directory
	Other   string // another worktree
	Main    string // the user's repository
	Journal string // in Main
	Object  string // loose, in Main
	Project string // another project
	Prompt  string // standard input of the attacker
	Tools   string // and one whose directory "bin" is in PATH
	Tmp     string // a file in /tmp
	Shm     string // a file in /dev/shm
	SysV    int    // shared memory
	SetUID  string // a program that runs as somebody else and prints its user id; "" if there is none

	Ralph Victim // plays ralph
	Prey  Victim // may be killed

	TCP, UDP, Unix, Abstract string // servers that answer with Secret
	Open                     int    // port that the host calls again and again
	Model                    string // "127.0.0.1:port" of a TLS server that the proxy may reach
	Local                    string // "localhost:port" that is listed, and may not be reached
	Proxy                    string // URL of a proxy that a sandbox does not make; "" if there is none

	TmpSize, FileSize int64  // limits, in bytes
	Processes         int    // limit
	Memory            int64  // limit, in bytes, where Groups are
	Groups            string // see wall.Spec

	// Of the system; a control puts other things in their place.
	Top, Shadow, Bin, Cron, CorePattern, SysRq, Dev string
	Init                                            string // directory of process 1 in /proc
	Disks, Cgroups                                  []string
}

// Victim is a process of the test's.
type Victim struct {
	PID  int
	Addr uint64 // of Secret in its memory
	FD   int    // a descriptor of a file with Secret
}

// Program is what a level runs.
type Program struct {
	Argv, Env []string
	Dir       string
	Stdin     string    // file
	Wall      wall.Spec // Kind is the level's to set
}

// Level runs a program as one level of the table does, with this process's standard
// output as its own, and returns when it has ended. An error is one of the sandbox, and
// an Unavailable if this machine has none of the kind; how the program ended is not.
type Level func(p Program) error

// Unavailable is the error of a level that this machine does not have.
type Unavailable struct{ Err error }

func (u *Unavailable) Error() string { return u.Err.Error() }
func (u *Unavailable) Unwrap() error { return u.Err }

// exitUnavailable is the exit code of a ralph whose level is not there.
const exitUnavailable = 75

func load(file string) (*World, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	w := new(World)
	if err := json.Unmarshal(b, w); err != nil || w.Own != "" {
		return w, err
	}
	w.Own, err = os.Getwd()
	return w, err
}

// program is the attacker in this world. ids are the attacks to run, none: all.
func (w *World) program(ids []string) Program {
	env := []string{"HOME=" + w.Home, "PATH=" + filepath.Join(w.Tools, "bin") + ":/usr/local/bin:/usr/bin:/bin"}
	if w.Proxy != "" {
		env = append(env, "HTTP_PROXY="+w.Proxy, "HTTPS_PROXY="+w.Proxy)
	}
	return Program{Argv: append([]string{w.exe(), roleAttack, w.file()}, ids...), Env: env, Dir: w.Own, Stdin: w.Prompt, Wall: w.wall()}
}

func (w *World) exe() string  { return filepath.Join(w.Root, "bin", "attacker") }
func (w *World) file() string { return filepath.Join(w.Root, "bin", "world.json") }

// wall is a sandbox as a turn in a clone has it.
func (w *World) wall() wall.Spec {
	git := filepath.Join(w.Own, ".git")
	return wall.Spec{
		Name: "attacked",
		Home: filepath.Join(w.State, "home"),
		Mounts: []wall.Mount{
			{From: w.Own, Write: true},
			{From: git, Write: true},
			{From: filepath.Join(git, "config")},
			{From: filepath.Join(git, "hooks")},
			{From: filepath.Join(w.Main, ".git", "objects")},
			{From: filepath.Dir(w.exe())},
			{At: filepath.Join(w.Own, ".env"), Cover: true},
		},
		Caches: []wall.Cache{{Lower: w.Cache, Upper: filepath.Join(w.State, "cache")}},
		Egress: &wall.Egress{Hosts: []string{allowed, w.Local}, Private: []string{w.Model}},
		Limits: wall.Limits{Tmp: w.TmpSize, File: w.FileSize, Pids: w.Processes, Memory: w.Memory},
		Groups: w.Groups,
	}
}

// allowed is a host that the proxy lets through. It does not exist.
const allowed = "allowed.example"

// What the test binary is started as.
const (
	roleRalph   = "sandboxtest:ralph"   // WORLD LEVEL [ID…]: starts the attacker at a level
	roleAttack  = "sandboxtest:attack"  // WORLD [ID…]: prints a Result a line
	roleApart   = "sandboxtest:apart"   // WORLD ID: one attack that may harm the process in which it runs
	roleVictim  = "sandboxtest:victim"  // FILE: holds secrets until its standard input ends
	roleFork    = "sandboxtest:fork"    // MARK: starts roleOutlive, and ends
	roleOutlive = "sandboxtest:outlive" // MARK: tries to outlive everybody, for a minute
	roleSetNS   = "sandboxtest:setns"   // enters a namespace of its own
)
