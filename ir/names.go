package ir

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Names is how an epic.json calls what is in it.
type Names struct {
	Epic  NodeID
	Plan  string
	Nodes []Name // in the order of the file
}

// Name is how a node is called.
type Name struct {
	ID    NodeID
	Key   Key
	Title string
}

// Names returns the id and plan of e, and the id, key and title of each node.
func (e *Epic) Names() Names {
	n := Names{Epic: e.Epic.ID, Plan: e.Epic.Plan, Nodes: make([]Name, len(e.Nodes))}
	for i := range e.Nodes {
		n.Nodes[i] = Name{ID: e.Nodes[i].ID, Key: e.Nodes[i].Key, Title: e.Nodes[i].Title}
	}
	return n
}

// ReadNames reads the names from the output of Encode, line by line, so that a large file
// needs little memory. It trusts its input: it checks neither other fields nor digests. ok
// is false if the lines are not in Encode's form: use Decode then, which accepts the file
// or says what is wrong.
func ReadNames(r io.Reader) (names Names, ok bool) {
	in := lines{r: bufio.NewReaderSize(r, 256<<10)}
	if !in.is("{") || !in.is(`  "ir": `+strconv.Quote(Version)+",") {
		return names, false
	}
	var section string // the top-level field
	var node *Name
	for {
		line, indent := in.next()
		switch {
		case len(line) == 0 || indent == 0:
			closed := string(line) == "}" && section == "digest"
			rest, _ := in.next()
			return names, closed && rest == nil && errors.Is(in.err, io.EOF) && names.Epic != "" && !slices.ContainsFunc(names.Nodes, Name.partly)
		case indent == 2 && line[0] == '"':
			section, _, _ = strings.Cut(string(line[1:]), `"`)
		case section == "epic" && indent == 4:
			set(line, `"id": `, &names.Epic)
			set(line, `"plan": `, &names.Plan)
		case section == "nodes" && indent == 4 && line[0] == '{':
			names.Nodes = append(names.Nodes, Name{})
			node = &names.Nodes[len(names.Nodes)-1]
		case section == "nodes" && indent == 6 && node != nil:
			set(line, `"id": `, &node.ID)
			set(line, `"key": `, &node.Key)
			set(line, `"title": `, &node.Title)
		}
	}
}

func (n Name) partly() bool { return n.ID == "" || n.Key == "" }

// set sets a string when line is the field that begins so.
func set[T ~string](line []byte, field string, to *T) {
	if text, found := bytes.CutPrefix(line, []byte(field)); found {
		d := newDecoder(string(bytes.TrimSuffix(text, []byte(","))))
		d.run(func() {
			if d.want('"', "a string") {
				*to = T(d.str())
			}
		})
		if len(d.errs) > 0 {
			*to = ""
		}
	}
}

// lines reads lines, of a very long one the beginning.
type lines struct {
	r   *bufio.Reader
	err error // behind the last line
}

// next returns a line without its indent, and how deep that is; nil at the end.
func (l *lines) next() (line []byte, indent int) {
	line, err := l.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		line = slices.Clone(line)
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = l.r.ReadSlice('\n')
		}
	}
	if err != nil {
		l.err = err
		return nil, 0
	}
	line = bytes.TrimRight(line, "\r\n")
	for indent < len(line) && line[indent] == ' ' {
		indent++
	}
	return line[indent:], indent
}

func (l *lines) is(want string) bool {
	line, indent := l.next()
	return line != nil && strings.Repeat(" ", indent)+string(line) == want
}
