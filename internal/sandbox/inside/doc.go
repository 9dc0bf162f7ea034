// Package inside is process 1 of a sandbox: it builds what an [Order] says around itself, or
// checks what bwrap has built ([Made]), gives up its privileges, runs the program, and reports how that ended.
//
// With an [Order.Fence] it builds nothing, and is no process 1: it starts itself once more,
// confines that by Landlock, and ends what is left of it.
//
// Linking it makes a binary able to be that process: when the binary is started as
// [Command], it becomes the sandbox before main, and before most packages are initialised.
// Only internal/sandbox starts it so. Nothing in it trusts what the program leaves behind:
// every step happens before the program begins, or needs nothing of it.
package inside

import "github.com/ralph-compiler/ralph/internal/wall"

// Command is the argument with which a binary becomes process 1 of a sandbox.
const Command = "sandbox-init"

// Descriptors that the sandbox is started with.
const (
	SocketFD = 3 // its end of a SOCK_SEQPACKET pair
	OrderFD  = 4 // a file that holds the Order as JSON, from its start
)

// Order is what the sandbox is to do.
type Order struct {
	Wall  wall.Spec
	First []wall.Mount // what is below everything but the home: programs
	Path  string       // of the program, inside
	Args  []string
	Dir   string
	Env   []string
	Alone bool // SIGTERM is for the program alone, not for its process group

	User string // name of the one user
	UID  int    // inside
	GID  int
	Home string // where Wall.Home is mounted
	Root bool   // ralph is root outside

	// Ports are the addresses to listen on, each "127.0.0.1:80" or "[::1]:80". The sockets
	// leave in one message, in this order.
	Ports []string

	// Made says what bwrap has made before this process; nil: this process makes it.
	Made *Made

	// Fence confines the program by Landlock, where it is; nil: namespaces do.
	Fence *Fence

	// Terminal gives the program a terminal of its own, in place of this process's input
	// and outputs; nil: it gets those.
	Terminal *Size
}

// Fence is what a program may do that Landlock confines. Nothing is made or moved: paths
// are those of the machine.
type Fence struct {
	ABI     int      // of Landlock, as far as it is used
	Read    []string // files and directories that may be read; each exists
	Write   []string // likewise, also written
	Temp    string   // directory, of Write, that goes with the sandbox
	Network bool     // TCP, to
	Ports   []int    // these, of any host; nothing can listen

	apart bool // the first process may signal its descendants alone
}

// Made is what is left to do in namespaces that bwrap has made.
type Made struct {
	Stderr int    // descriptor of the program's; that of this process is bwrap's
	Seen   []Seen // what has to be at its place
}

// Seen is a file or directory of the machine, by which it is known inside.
type Seen struct {
	At       string
	Dev, Ino uint64
	Write    bool
	Hidden   bool // it is not there: something else is
}

// Size is that of a terminal's window, in characters.
type Size struct{ Columns, Rows uint16 }

// Report is one message to ralph.
type Report struct {
	Stage  string // Sockets, Terminal, Started, Failed, Dialed, Ended
	Reason string // of Failed; of Dialed if there is no connection
	Absent bool   // of Failed: the program itself cannot be started
	Scarce bool   // of Failed: the machine was short of something, and may not be later
	Code   int    // of Ended
	Signal int    // of Ended; 0: it exited
	ID     int    // of Dialed
}

// Dial is a message from ralph: it asks for a connection to an address of the sandbox's
// loopback interface. A Report of the same ID answers.
type Dial struct {
	ID int
	At string // "127.0.0.1:80"
}

// MaxDial bounds a Dial as JSON, in bytes.
const MaxDial = 256

// Stages of a sandbox's life.
const (
	Sockets  = "sockets"  // descriptors come with it
	Terminal = "terminal" // its leading end comes with it
	Started  = "started"
	Dialed   = "dialed" // the connection comes with it
	Failed   = "failed"
	Ended    = "ended"
)
