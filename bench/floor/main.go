// Command floor reads the markdown file that is its first argument, parses it
// with goldmark, encodes the blocks with encoding/json and writes them to the
// second: the floor of `ralph compile`.
package main

import (
	"encoding/json"
	"log"
	"os"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

type block struct {
	Kind  string   `json:"kind"`
	Level int      `json:"level"`
	Lines []string `json:"lines"`
}

func main() {
	src, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	var blocks []block
	doc := goldmark.DefaultParser().Parse(text.NewReader(src))
	err = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering || n.Type() == ast.TypeInline {
			return ast.WalkContinue, nil
		}
		b := block{Kind: n.Kind().String()}
		if h, ok := n.(*ast.Heading); ok {
			b.Level = h.Level
		}
		for i := range n.Lines().Len() {
			s := n.Lines().At(i)
			b.Lines = append(b.Lines, string(s.Value(src)))
		}
		blocks = append(blocks, b)
		return ast.WalkContinue, nil
	})
	if err != nil {
		log.Fatal(err)
	}
	out, err := json.MarshalIndent(blocks, "", "  ")
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(os.Args[2], out, 0o644); err != nil {
		log.Fatal(err)
	}
}
