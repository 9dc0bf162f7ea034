// Package yaml reads YAML into nodes that know where they are. It is the only
// user of the YAML library; compiler/syntax (front matter) and policies (agent
// files) call it.
package yaml

import (
	"errors"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ralph-compiler/ralph/internal/lazyregexp"
)

// Kind says what a Node holds.
type Kind uint8

// Kinds.
const (
	Null Kind = iota
	Scalar
	Mapping
	Sequence
)

// Node is a value and its place. Start and End are byte offsets in the parsed
// text; End of a scalar is exact for plain and quoted one-line scalars, and the
// end of the line else; of a collection it is the end of its last part.
type Node struct {
	Kind       Kind
	Value      string  // of a scalar
	Tag        string  // of a scalar: !!str, !!int, !!bool, !!float, !!null, !!timestamp
	Keys       []*Node // of a mapping, in order
	Values     []*Node // of a mapping beside Keys; of a sequence, its items
	Start, End int
}

// Get returns the value of a key of a mapping, or nil.
func (n *Node) Get(key string) *Node {
	for i, k := range n.Keys {
		if k.Value == key {
			return n.Values[i]
		}
	}
	return nil
}

// SyntaxError says where YAML cannot be read.
type SyntaxError struct {
	Line    int // from 1
	Column  int // from 1, in Unicode code points: where its cause most probably is
	Message string
	Fix     string // what to write instead, a sentence; "" if unknown
}

func (e *SyntaxError) Error() string { return "line " + strconv.Itoa(e.Line) + ": " + e.Message }

// Limits: front matter and agent files are small; aliases are not followed, so
// nothing can grow beyond the text.
const (
	maxSize  = 1 << 20
	maxDepth = 64
)

var lineIn = lazyregexp.New(`line (\d+): (.*)`)

// Parse reads one document. The error is a *SyntaxError. An empty document is a
// Null node. Aliases and documents after the first are errors.
func Parse(b []byte) (*Node, error) {
	if len(b) > maxSize {
		return nil, &SyntaxError{Line: 1, Column: 1, Message: "more than 1 MiB of YAML"}
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(b, &doc); err != nil {
		return nil, syntaxError(err).explained(b)
	}
	if len(doc.Content) == 0 {
		return &Node{Kind: Null}, nil
	}
	p := &placer{text: b}
	for i := range b {
		if i == 0 || b[i-1] == '\n' {
			p.lines = append(p.lines, i)
		}
	}
	n, err := p.node(doc.Content[0], 0)
	if e := (*SyntaxError)(nil); errors.As(err, &e) {
		return nil, e.explained(b)
	}
	return n, err
}

func syntaxError(err error) *SyntaxError {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	var typed *yaml.TypeError
	if errors.As(err, &typed) && len(typed.Errors) > 0 {
		text = typed.Errors[0]
	}
	if m := lineIn.FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[1])
		return &SyntaxError{Line: max(n, 1), Message: m[2]}
	}
	return &SyntaxError{Line: 1, Message: text}
}

type placer struct {
	text  []byte
	lines []int
}

func (p *placer) node(n *yaml.Node, depth int) (*Node, error) {
	if depth > maxDepth {
		return nil, &SyntaxError{Line: n.Line, Message: "nested too deeply"}
	}
	out := &Node{Value: n.Value, Tag: n.ShortTag(), Start: p.offset(n.Line, n.Column)}
	out.End = out.Start
	switch n.Kind {
	case yaml.AliasNode:
		return nil, &SyntaxError{Line: n.Line, Message: "aliases are not read"}
	case yaml.ScalarNode:
		out.Kind = Scalar
		if out.Tag == "!!null" {
			out.Kind = Null
		}
		out.End = p.scalarEnd(out.Start, n)
		return out, nil
	case yaml.MappingNode:
		out.Kind = Mapping
		for i := 0; i+1 < len(n.Content); i += 2 {
			k, err := p.node(n.Content[i], depth+1)
			if err != nil {
				return nil, err
			}
			v, err := p.node(n.Content[i+1], depth+1)
			if err != nil {
				return nil, err
			}
			out.Keys, out.Values = append(out.Keys, k), append(out.Values, v)
			out.End = max(out.End, v.End)
		}
	case yaml.SequenceNode:
		out.Kind = Sequence
		for _, c := range n.Content {
			v, err := p.node(c, depth+1)
			if err != nil {
				return nil, err
			}
			out.Values = append(out.Values, v)
			out.End = max(out.End, v.End)
		}
	}
	return out, nil
}

// offset turns the library's line and column (both from 1, columns in runes)
// into a byte offset.
func (p *placer) offset(line, column int) int {
	if line < 1 || line > len(p.lines) {
		return len(p.text)
	}
	off := p.lines[line-1]
	for range column - 1 {
		if off >= len(p.text) || p.text[off] == '\n' {
			break
		}
		off++
		for off < len(p.text) && p.text[off]&0xC0 == 0x80 {
			off++
		}
	}
	return off
}

func (p *placer) scalarEnd(start int, n *yaml.Node) int {
	line := start
	for line < len(p.text) && p.text[line] != '\n' && p.text[line] != '\r' {
		line++
	}
	rest := string(p.text[start:line])
	switch {
	case rest != "" && n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
		if i := closing(rest); i > 0 {
			return start + i + 1
		}
	case strings.HasPrefix(rest, n.Value):
		return start + len(n.Value)
	}
	return line
}

// closing is where the quote ends that a text begins with; 0 if it does not.
func closing(s string) int {
	for i := 1; i < len(s); i++ {
		switch {
		case s[0] == '"' && s[i] == '\\', s[0] == '\'' && strings.HasPrefix(s[i:], "''"):
			i++
		case s[i] == s[0]:
			return i
		}
	}
	return 0
}
