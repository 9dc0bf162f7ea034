package sandboxtest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Main plays an attacker, a victim or the ralph that starts them and exits, if the
// program was started as one; otherwise it returns. levels are those of Site.Launch,
// beside "none".
func Main(levels map[string]Level) {
	if len(os.Args) < 2 {
		return
	}
	args := os.Args[2:]
	var err error
	switch os.Args[1] {
	case roleRalph:
		err = launch(levels, args)
	case roleAttack:
		err = attack(args)
	case roleApart:
		err = apart(args)
	case roleVictim:
		err = victim(args)
	case roleFork:
		err = fork(args)
	case roleOutlive:
		signal.Ignore(unix.SIGHUP, unix.SIGTERM, unix.SIGINT)
		time.Sleep(time.Minute)
	case roleSetNS:
		err = enterOwn("uts", unix.CLONE_NEWUTS)
	default:
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		if off := (*Unavailable)(nil); errors.As(err, &off) {
			os.Exit(exitUnavailable)
		}
		os.Exit(1)
	}
	os.Exit(0)
}

// launch starts the attacker at a level, as ralph would.
func launch(levels map[string]Level, args []string) error {
	w, err := load(args[0])
	if err != nil {
		return err
	}
	run := levels[args[1]]
	switch args[1] {
	case "none":
		run = func(p Program) error { return plain(p, nil) }
	case "userns":
		run = func(p Program) error { return plain(p, rooted()) }
	}
	if run == nil {
		return fmt.Errorf("nobody knows level %s", args[1])
	}
	return run(w.program(args[2:]))
}

// plain runs a program without a sandbox.
func plain(p Program, attr *syscall.SysProcAttr) error {
	in, err := os.Open(p.Stdin)
	if err != nil {
		return err
	}
	defer in.Close()
	cmd := exec.Command(p.Argv[0], p.Argv[1:]...)
	cmd.Env, cmd.Dir, cmd.SysProcAttr = p.Env, p.Dir, attr
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, os.Stdout, os.Stderr
	err = cmd.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return nil
	}
	return err
}

// rooted makes a program root of a user namespace of its own, with a network and mounts.
func rooted() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
}

// attack runs attacks and prints what came of each as soon as it is known.
func attack(args []string) error {
	open := inherited()
	w, err := load(args[0])
	if err != nil {
		return err
	}
	signal.Ignore(unix.SIGXFSZ) // the error is what counts
	ids := args[1:]
	if len(ids) == 0 {
		ids = Attacks().IDs()
	}
	out := json.NewEncoder(os.Stdout)
	for _, id := range ids {
		if id == "Z01" {
			continue // seen from outside
		}
		r := Result{ID: id}
		r.tell(try(w, open, id))
		if err := out.Encode(r); err != nil {
			return err
		}
	}
	return nil
}

// tell takes the error of an attack: none is success.
func (r *Result) tell(err error) {
	r.Succeeded = err == nil
	var no syscall.Errno
	switch {
	case err == nil:
	case errors.As(err, &no):
		r.Seen = unix.ErrnoName(no)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		r.Seen = "EOF"
	default:
		r.Seen = err.Error()
	}
}

// try runs one attack on a thread that is thrown away, at most half a minute.
func try(w *World, open []descriptor, id string) error {
	if aparts[id] {
		return tryApart(w, id)
	}
	f := programs[id]
	if f == nil {
		return errors.New("no such attack")
	}
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked
		done <- f(&arena{World: w, open: open})
	}()
	select {
	case err := <-done:
		return err
	case <-time.After(30 * time.Second):
		return errors.New("no end")
	}
}

// tryApart runs one attack in a process of its own.
func tryApart(w *World, id string) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	var out bytes.Buffer
	cmd := exec.Command(exe, roleApart, w.file(), id)
	cmd.Stdout = &out
	err = cmd.Run()
	var r Result
	if json.Unmarshal(out.Bytes(), &r) != nil {
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			return errors.New(exit.String())
		}
		return errors.Join(err, errors.New("it said nothing"))
	}
	if r.Succeeded {
		return nil
	}
	return errors.New(r.Seen)
}

func apart(args []string) error {
	w, err := load(args[0])
	if err != nil {
		return err
	}
	runtime.LockOSThread()
	r := Result{ID: args[1]}
	r.tell(programs[args[1]](&arena{World: w}))
	return json.NewEncoder(os.Stdout).Encode(r)
}

// victim has the secret in its memory, in an open file and in its environment.
func victim(args []string) error {
	f, err := os.Open(args[0])
	if err != nil {
		return err
	}
	held, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	// Where only parents may trace, anybody may trace this one.
	_ = unix.Prctl(unix.PR_SET_PTRACER, ^uintptr(0), 0, 0, 0)
	v := Victim{PID: os.Getpid(), Addr: uint64(uintptr(unsafe.Pointer(&held[0]))), FD: int(f.Fd())}
	if err := json.NewEncoder(os.Stdout).Encode(v); err != nil {
		return err
	}
	_, err = bufio.NewReader(os.Stdin).ReadByte()
	runtime.KeepAlive(held)
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// fork leaves a process that nobody waits for.
func fork(args []string) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(exe, roleOutlive, args[0])
	cmd.Env = []string{}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd.Start()
}
