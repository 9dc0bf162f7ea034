package ir_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/irtest"
)

func BenchmarkEncode(b *testing.B) {
	e := irtest.Large(10_000)
	b.ReportAllocs()
	for b.Loop() {
		b.SetBytes(int64(len(encode(b, e))))
	}
}

// judged is a plan of which each sprint has a QA gate with the same output schema.
func judged(nodes int) *ir.Epic {
	e := irtest.Large(nodes)
	schema := json.RawMessage(`{"$schema":"https://json-schema.org/draft/2020-12/schema","properties":{"details":{"type":"object"},"message":{"type":"string"},"status":{"enum":["pass","fail","stop"]}},"required":["status","message"],"type":"object"}`)
	for i := range e.Nodes {
		name := string(e.Nodes[i].Key) + "/qa"
		e.Gates[name] = ir.Gate{Kind: "command", Run: "true", OutputSchema: schema}
		s := &e.Nodes[i].Steps[0]
		s.Gates = append(slices.Clip(s.Gates), name)
	}
	return e
}

func BenchmarkEncodeSchemas(b *testing.B) {
	e := judged(10_000)
	b.ReportAllocs()
	for b.Loop() {
		b.SetBytes(int64(len(encode(b, e))))
	}
}

func BenchmarkSealSchemas(b *testing.B) {
	e := judged(10_000)
	b.ReportAllocs()
	for b.Loop() {
		ir.Seal(e)
	}
}

func BenchmarkVerifySchemas(b *testing.B) {
	e := judged(10_000)
	b.ReportAllocs()
	for b.Loop() {
		e.Verify()
	}
}

func BenchmarkSeal(b *testing.B) {
	e := irtest.Large(10_000)
	for b.Loop() {
		ir.Seal(e)
	}
}

func BenchmarkDecode(b *testing.B) {
	file := encode(b, irtest.Large(10_000))
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ir.Decode(file); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkVerify(b *testing.B) {
	e := irtest.Large(10_000)
	for b.Loop() {
		if errs := e.Verify(); errs != nil {
			b.Fatal(errs[0])
		}
	}
}

func BenchmarkOrder(b *testing.B) {
	e := irtest.Large(10_000)
	for b.Loop() {
		if _, ok := ir.Order(e.Nodes); !ok {
			b.Fatal("a cycle")
		}
	}
}

func BenchmarkRedundantEdges(b *testing.B) {
	e := irtest.Large(10_000)
	for b.Loop() {
		ir.RedundantEdges(e.Nodes)
	}
}
