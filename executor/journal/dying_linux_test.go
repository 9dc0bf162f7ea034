package journal

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// What a killed ralph was about to start still has its lock for a moment; one that lives
// is not waited for.
func TestTheLockOfTheDeadIsWaitedFor(t *testing.T) { // S2-44
	dir, who := t.TempDir(), Owner{PID: os.Getpid(), Boot: BootID()}
	child, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer child.Close()
	if err := syscall.Flock(int(child.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	owner := func(text string) {
		if err := os.WriteFile(filepath.Join(dir, "owner.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var held *Held
	owner(`{"pid": 1, "boot": "` + who.Boot + `"}`)
	if _, err := Acquire(dir, who); !errors.As(err, &held) {
		t.Errorf("of one that lives: %v", err)
	}
	owner(`{"pid": 1073741824, "boot": "` + who.Boot + `"}`)
	time.AfterFunc(100*time.Millisecond, func() { _ = child.Close() }) // it is another program by then
	l, err := Acquire(dir, who)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Release(); err != nil {
		t.Error(err)
	}
}
