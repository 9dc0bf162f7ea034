package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"
)

// terminal is one that a program runs in: what is typed comes to it as from a
// keyboard, and what it prints is drawn as on a screen without an end.
type terminal struct {
	t       testing.TB
	master  *os.File
	slave   *os.File
	columns int

	mu    sync.Mutex // guards what follows
	raw   strings.Builder
	lines [][]rune
	row   int
	col   int
	bad   string // the first sequence that the screen does not know
}

// newTerminal makes one of a size.
func newTerminal(t testing.TB, columns, rows int) *terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("this machine has no terminals: %v", err)
	}
	control := func(request uintptr, arg unsafe.Pointer) {
		t.Helper()
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, master.Fd(), request, uintptr(arg)); errno != 0 {
			t.Fatalf("ioctl %#x: %v", request, errno)
		}
	}
	var locked, number int32
	size := [4]uint16{uint16(rows), uint16(columns)}
	control(syscall.TIOCSPTLCK, unsafe.Pointer(&locked))
	control(syscall.TIOCGPTN, unsafe.Pointer(&number))
	control(syscall.TIOCSWINSZ, unsafe.Pointer(&size))
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	x := &terminal{t: t, master: master, slave: slave, columns: columns, lines: [][]rune{nil}}
	var reading sync.WaitGroup
	reading.Go(x.read)
	t.Cleanup(func() {
		_ = slave.Close() // reading ends with the last one who has it open
		reading.Wait()
		_ = master.Close()
	})
	return x
}

// run starts a program of the site in the terminal, as its shell does.
func (x *terminal) run(s *site, args ...string) *starting {
	x.t.Helper()
	return x.reading(x.slave, s, args...)
}

// reading is run with another standard input.
func (x *terminal) reading(in io.Reader, s *site, args ...string) *starting {
	x.t.Helper()
	r := s.begin(func(r *starting) {
		r.cmd.Env = append(r.cmd.Env, "TERM=xterm")
		x.take(r)
		r.cmd.Stdin = in
	}, args...)
	x.t.Cleanup(func() { _ = r.cmd.Process.Kill() }) // where the test fails it has the terminal open, and reading would not end
	return r
}

// take gives the terminal to what is to be started.
func (x *terminal) take(r *starting) {
	r.cmd.Stdin, r.cmd.Stdout, r.cmd.Stderr = x.slave, x.slave, x.slave
	r.cmd.Env = append(r.cmd.Env, killAt+"=") // it writes to the terminal itself
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 1}
}

// types is what a person types; "\x03" is Ctrl-C.
func (x *terminal) types(keys string) {
	x.t.Helper()
	if _, err := x.master.WriteString(keys); err != nil {
		x.t.Fatal(err)
	}
}

// screen is what stands on it, and whether the cursor is shown.
func (x *terminal) screen() (text string, cursor bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.bad != "" {
		x.t.Errorf("a terminal may not know %q", x.bad)
	}
	var b strings.Builder
	for _, l := range x.lines {
		b.WriteString(strings.TrimRight(string(l), " ") + "\n")
	}
	raw := x.raw.String()
	return strings.TrimRight(b.String(), "\n") + "\n", strings.LastIndex(raw, "\x1b[?25h") >= strings.LastIndex(raw, "\x1b[?25l")
}

func (x *terminal) read() {
	b := make([]byte, 4096)
	rest := ""
	for {
		n, err := x.master.Read(b)
		x.mu.Lock()
		x.raw.Write(b[:n])
		rest = x.draw(rest + string(b[:n]))
		x.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// draw does what a text says, and returns what is not whole at its end.
func (x *terminal) draw(text string) string {
	for text != "" {
		r := []rune(text)[0]
		switch {
		case r == '\r':
			x.col = 0
		case r == '\n':
			x.row++
			for len(x.lines) <= x.row {
				x.lines = append(x.lines, nil)
			}
		case r == '\x1b':
			end := strings.IndexFunc(text, func(r rune) bool { return r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' })
			if end < 0 {
				return text
			}
			x.sequence(text[:end+1])
			text = text[end+1:]
			continue
		case r == '\uFFFD' && len(text) < 4:
			return text
		default:
			if x.col == x.columns {
				x.row, x.col = x.row+1, 0
			}
			for len(x.lines) <= x.row {
				x.lines = append(x.lines, nil)
			}
			for len(x.lines[x.row]) <= x.col {
				x.lines[x.row] = append(x.lines[x.row], ' ')
			}
			x.lines[x.row][x.col] = r
			x.col++
		}
		text = text[len(string(r)):]
	}
	return ""
}

func (x *terminal) sequence(s string) {
	up := 0
	switch {
	case strings.HasSuffix(s, "m") || strings.HasPrefix(s, "\x1b[?"): // colours, modes
	case s == "\x1b[K":
		x.lines[x.row] = x.lines[x.row][:min(x.col, len(x.lines[x.row]))]
	case s == "\x1b[J":
		x.lines[x.row] = x.lines[x.row][:min(x.col, len(x.lines[x.row]))]
		x.lines = x.lines[:x.row+1]
	default:
		if n, err := fmt.Sscanf(s, "\x1b[%dA", &up); n == 1 && err == nil && up <= x.row {
			x.row -= up
		} else if x.bad == "" {
			x.bad = s
		}
	}
}
