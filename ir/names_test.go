package ir_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/irtest"
)

func TestReadNamesReadsWhatDecodeReads(t *testing.T) {
	odd := irtest.Rich()
	odd.Nodes[0].Title = "a \"title\"\nwith \u2028 and ümlaut"
	odd.Nodes[0].Prompt = []string{strings.Repeat("long ", 1<<17), `"id": "no",`}
	for _, e := range []*ir.Epic{irtest.Worked(), irtest.Rich(), irtest.Large(300), odd} {
		b := encode(t, e)
		for _, b := range [][]byte{b, bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n"))} {
			got, ok := ir.ReadNames(bytes.NewReader(b))
			if want := e.Names(); !ok || !reflect.DeepEqual(got, want) {
				t.Fatalf("ok %v, got %.300v\nwant %.300v", ok, got, want)
			}
		}
	}
}

func TestReadNamesDoesNotTrustOtherLines(t *testing.T) {
	text := string(encode(t, irtest.Worked()))
	for name, s := range map[string]string{
		"empty":             "",
		"cut":               text[:len(text)/2],
		"without its brace": strings.TrimSuffix(text, "}\n"),
		"more behind":       text + "{}\n",
		"another version":   strings.Replace(text, ir.Version, "ralph.ir/v9", 1),
		"on one line":       strings.ReplaceAll(text, "\n", ""),
		"other indent":      strings.ReplaceAll(text, "  ", " "),
		"conflict":          strings.Replace(text, "\n  \"nodes\"", "\n<<<<<<< ours\n  \"nodes\"", 1),
		"a number as id":    strings.Replace(text, "\"id\": \"bd-000001\"", "\"id\": 7", 1),
		"an empty line":     strings.Replace(text, "\n  \"nodes\"", "\n\n  \"nodes\"", 1),
		"blanks":            strings.Replace(text, "\n  \"nodes\"", "\n    \n  \"nodes\"", 1),
	} {
		if names, ok := ir.ReadNames(strings.NewReader(s)); ok {
			t.Errorf("%s: read %.200v", name, names)
		}
	}
}
