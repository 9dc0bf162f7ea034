package ir_test

import (
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
