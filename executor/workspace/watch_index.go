package workspace

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
)

// indexed is an entry of git's index.
type indexed struct {
	path            string
	oid             string
	mode, sec, nsec uint32
	size            uint32
	stage           int
	racy            bool // what the index says of its content may be wrong
}

// readIndex reads the entries of an index of version 2 to 4, sorted by path. ok is false
// if they are not all: it is another one, broken, sparse, or only the difference to one
// that is shared.
func readIndex(b []byte, oid int) (list []indexed, ok bool) {
	if len(b) < 12+oid || !bytes.HasPrefix(b, []byte("DIRC")) {
		return nil, false
	}
	version, count := binary.BigEndian.Uint32(b[4:]), int(binary.BigEndian.Uint32(b[8:]))
	if version < 2 || version > 4 {
		return nil, false
	}
	rest := b[12 : len(b)-oid]
	before := ""
	for range count {
		if len(rest) < 42+oid {
			return list, false
		}
		u32 := func(at int) uint32 { return binary.BigEndian.Uint32(rest[at:]) }
		flags := binary.BigEndian.Uint16(rest[40+oid:])
		e := indexed{mode: u32(24), sec: u32(8), nsec: u32(12), size: u32(36), oid: hex.EncodeToString(rest[40 : 40+oid]), stage: int(flags>>12) & 3}
		e.racy = flags&0x8000 != 0 // somebody told git not to look at the file
		n := 42 + oid
		if flags&0x4000 != 0 && version > 2 {
			if len(rest) < n+2 {
				return list, false
			}
			e.racy = e.racy || binary.BigEndian.Uint16(rest[n:])&0x4000 != 0
			n += 2
		}
		keep := 0
		if version == 4 {
			strip, used := offset(rest[n:])
			if used == 0 || strip > len(before) {
				return list, false
			}
			n, keep = n+used, len(before)-strip
		}
		end := bytes.IndexByte(rest[n:], 0)
		if end < 0 {
			return list, false
		}
		e.path = before[:keep] + string(rest[n:n+end])
		if version == 4 {
			before, n = e.path, n+end+1
		} else {
			n = (n + end + 8) &^ 7
		}
		if n > len(rest) {
			return list, false
		}
		list, rest = append(list, e), rest[n:]
	}
	return list, !inPart(rest)
}

// inPart reports whether the extensions of an index say that its entries are not all.
func inPart(extensions []byte) bool {
	for rest := extensions; len(rest) >= 8; {
		if name := string(rest[:4]); name == "link" || name == "sdir" {
			return true
		}
		size := int(binary.BigEndian.Uint32(rest[4:]))
		if size > len(rest)-8 {
			break
		}
		rest = rest[8+size:]
	}
	return false
}

// offset reads a number as git's pack files write it, and how many bytes it took; 0: none.
func offset(b []byte) (n, used int) {
	for i, c := range b[:min(len(b), 5)] {
		if i > 0 {
			n++
		}
		n = n<<7 | int(c&0x7f)
		if c&0x80 == 0 {
			return n, i + 1
		}
	}
	return 0, 0
}
