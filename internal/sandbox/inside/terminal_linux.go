package inside

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// terminal makes a terminal, in the sandbox's own /dev/pts if it has one, and hands its leading end to
// ralph. What is returned is the program's end.
func (o *Order) terminal() (int, error) {
	ptmx := "/dev/pts/ptmx"
	if o.Fence != nil { // the machine's
		ptmx = "/dev/ptmx"
	}
	leader, err := unix.Open(ptmx, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("make a terminal: %w", err)
	}
	defer unix.Close(leader)
	if err := unix.IoctlSetPointerInt(leader, unix.TIOCSPTLCK, 0); err != nil {
		return -1, fmt.Errorf("unlock the terminal: %w", err)
	}
	if err := unix.IoctlSetWinsize(leader, unix.TIOCSWINSZ, &unix.Winsize{Row: o.Terminal.Rows, Col: o.Terminal.Columns}); err != nil {
		return -1, fmt.Errorf("set the terminal's size: %w", err)
	}
	number, err := unix.IoctlGetInt(leader, unix.TIOCGPTN)
	if err != nil {
		return -1, fmt.Errorf("name the terminal: %w", err)
	}
	follower, err := unix.Open(fmt.Sprintf("/dev/pts/%d", number), unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("open the terminal: %w", err)
	}
	report(Report{Stage: Terminal}, leader)
	return follower, nil
}
