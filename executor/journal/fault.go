package journal

import (
	"errors"
	"runtime"
	"runtime/debug"
)

// guard makes an error of a fault in the memory that SQLite shares with other
// processes: a journal file in use was truncated. Use it as
// defer l.guard(&err)(). What SQLite had locked by then stays so: the
// connection is not used again.
func (l *Log) guard(err *error) func() {
	before := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(before)
		switch r := recover().(type) {
		case nil:
		case interface { // not that of a nil pointer, which is a bug
			runtime.Error
			Addr() uintptr
		}:
			l.dead, l.cut = errors.New("a file of the journal was cut off while it was in use"), true
			*err = l.dead
		default:
			panic(r)
		}
	}
}
