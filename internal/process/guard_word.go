//go:build unix

package process

import (
	"bytes"
	"strconv"
)

// guardWord is a message to the guard, one line: a verb and numbers.
type guardWord struct {
	verb      byte
	root, pid int
	start     uint64 // of pid
}

// Verbs.
const (
	wordBegin = '+' // a program began: the leader of its group; root is walled if that is a sandbox's
	wordSeen  = 's' // a descendant of root; of 0: of some program
	wordDone  = '-' // nothing is left of a program
	wordEnd   = '.' // nothing is left at all
)

// walled is of a process that ends all that is in its sandbox when ralph is dead.
const walled = 1

func (w guardWord) append(b []byte) []byte {
	b = strconv.AppendInt(append(b, w.verb, ' '), int64(w.root), 10)
	b = strconv.AppendInt(append(b, ' '), int64(w.pid), 10)
	return append(strconv.AppendUint(append(b, ' '), w.start, 10), '\n')
}

// parseWord parses a line; ok is false if it is invalid.
func parseWord(line []byte) (w guardWord, ok bool) {
	fields := bytes.Fields(line)
	if len(fields) != 4 || len(fields[0]) != 1 {
		return w, false
	}
	w.verb = fields[0][0]
	var n [3]uint64
	for i, f := range fields[1:] {
		if n[i], ok = digits(f); !ok {
			return w, false
		}
	}
	w.root, w.pid, w.start = int(n[0]), int(n[1]), n[2]
	return w, true
}
