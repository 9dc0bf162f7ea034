package ir_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/irtest"
)

func TestDecodeReturnsWhatWasEncoded(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for i := range 40 {
		e := &ir.Epic{}
		if i == 0 {
			e = irtest.Rich()
		} else {
			fill(rnd, reflect.ValueOf(e).Elem(), 0)
			e.IR = ir.Version
		}
		b := encode(t, e)
		got, err := ir.Decode(b)
		if err != nil {
			t.Fatalf("epic %d: %v", i, err)
		}
		if again := encode(t, got); !bytes.Equal(again, b) {
			t.Fatalf("epic %d: %s", i, firstDifference(again, b))
		}
		e.Digest = got.Digest
		if e.Digest != digestOf(t, b) || !reflect.DeepEqual(got, e) {
			t.Fatalf("epic %d came back otherwise", i)
		}
	}
}

func TestDecodeNamesThePathOfEachMistake(t *testing.T) {
	good := string(encode(t, irtest.Worked()))
	cases := []struct {
		name, old, new string
		want           []string
	}{
		{"an unknown field", `"done": false,`, `"done": false, "colour": "red",`, []string{"nodes[0].colour: is not a field that this version of ralph knows"}},
		{"an empty field that is left out else", `      "implicit": false`, `      "implicit": false,` + "\n" + `      "expect": null`, []string{"agents.default.expect: is empty: leave it out"}},
		{"a missing field", `      "priority": 2,` + "\n", ``, []string{"nodes[0].priority: is missing"}},
		{"a field that appears twice", `"done": false,`, `"done": false, "done": true,`, []string{"nodes[0].done: appears twice"}},
		{"a number for a string", `"agent": "default"`, `"agent": 7`, []string{"nodes[0].steps[0].agent: must be a string, not a number"}},
		{"null for an array", `"merges": []`, `"merges": null`, []string{"nodes[0].merges: must be an array, not null"}},
		{"a string for a bool", `"done": false`, `"done": "no"`, []string{"nodes[0].done: must be true or false, not a string"}},
		{"an array for an object", `"expect": {`, `"expect": [`, []string{"gates.unit.expect: expected a comma or a closing bracket, found ':'"}},
		{"a fraction for an integer", `"priority": 2`, `"priority": 2.5`, []string{"nodes[0].priority: must be an integer that fits 64 bits"}},
		{"a number that is too large", `"priority": 2`, `"priority": 99999999999999999999`, []string{"nodes[0].priority: must be an integer that fits 64 bits"}},
		{"an object for a string in a list", "\"It works\"\n      ]", "{\"a\": []}\n      ]", []string{"nodes[0].acceptance[0]: must be a string, not an object"}},
		{"two mistakes at once", `"done": false`, `"done": 1, "x": 2`, []string{"nodes[0].done: must be true or false, not a number", "nodes[0].x: is not a field that this version of ralph knows"}},
		{"a name that is no word", `"unit": {`, `"1.2/verify": {"colour": 1}, "unit": {`, []string{`gates["1.2/verify"].colour: is not a field that this version of ralph knows`}},
		{"an entry that appears twice", `"secrets": {`, `"secrets": {"anthropic": {"env": ""},`, []string{"secrets.anthropic: appears twice"}},
		{"another version", `ralph.ir/v1`, `ralph.ir/v9`, []string{`ir: "ralph.ir/v9" is not the version that this ralph reads (ralph.ir/v1); compile the plan again`}},
		{"a truncated file", good[strings.Index(good, "      \"kind\""):], ``, []string{"the file ends too early"}},
		{"something behind the end", "\"\n}\n", "\"\n}\n{}", []string{"there is more after the end of the value"}},
		{"an empty file", good, "", []string{"the file ends too early"}},
		{"no object at all", good, "[]", []string{"must be an object, not an array"}},
		{"a byte order mark", "{\n  \"ir\"", "\uFEFF{\n  \"ir\"", []string{"a byte order mark is before the JSON; compile the plan again"}},
		{"invalid UTF-8", `"Data model"`, "\"\xff\"", []string{"nodes[0].title: a string that is not UTF-8"}},
		{"terminal escapes in a key", `"done": false`, `"\u001b[31m": 1, "done": false`, []string{`nodes[0]["\x1b[31m"]: is not a field that this version of ralph knows`}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			bad := strings.Replace(good, c.old, c.new, 1)
			if bad == good {
				t.Fatalf("the case changes nothing: %q", c.old)
			}
			_, err := ir.Decode([]byte(bad))
			var first *ir.DecodeError
			if !errors.As(err, &first) {
				t.Fatalf("got %v", err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got  %s\nwant %s", err, want)
				}
			}
			if first.Offset < 0 || first.Offset > len(bad) {
				t.Errorf("offset %d of %d", first.Offset, len(bad))
			}
		})
	}
}

func TestDecodeTellsAnEditFromABrokenFile(t *testing.T) {
	good := string(encode(t, irtest.Worked()))
	for name, edited := range map[string]string{
		"a value":        strings.Replace(good, `"attempts": 3`, `"attempts": 9`, 1),
		"white space":    strings.Replace(good, "\n  \"epic\"", "\n\n  \"epic\"", 1),
		"the digest":     strings.Replace(good, `"digest": "sha256:`, `"digest": "sha256:0`, 1),
		"a digest moved": strings.Replace(good, `"ir"`, `"digest": "", "ir"`, 1),
	} {
		e, err := ir.Decode([]byte(edited))
		var digest *ir.DigestError
		if name == "a digest moved" {
			if err == nil || errors.As(err, &digest) {
				t.Errorf("%s: got %v", name, err)
			}
			continue
		}
		if !errors.As(err, &digest) || e == nil {
			t.Errorf("%s was edited and gave %v", name, err)
		}
	}
	crlf := strings.ReplaceAll(good, "\n", "\r\n")
	if _, err := ir.Decode([]byte(crlf)); err != nil {
		t.Errorf("a checkout with CRLF gave %v", err)
	}
}

func TestDecodeSaysRecompileAtConflictMarkers(t *testing.T) {
	good := string(encode(t, irtest.Worked()))
	bad := strings.Replace(good, "      \"priority\": 2,\n", "<<<<<<< HEAD\n      \"priority\": 2,\n=======\n      \"priority\": 3,\n>>>>>>> other\n", 1)
	_, err := ir.Decode([]byte(bad))
	var first *ir.DecodeError
	if !errors.As(err, &first) || !first.Conflict || !strings.Contains(err.Error(), "recompile") {
		t.Fatalf("got %v", err)
	}
	if !strings.HasPrefix(bad[first.Offset:], "<<<<<<<") {
		t.Errorf("offset %d is at %q", first.Offset, bad[first.Offset:][:10])
	}
	if _, err := ir.Decode([]byte("{\n<<<<<<< HEAD\n")); err == nil || !strings.Contains(err.Error(), "recompile") {
		t.Errorf("a file of nothing but a conflict gave %v", err)
	}
}

func TestDecodeIsBounded(t *testing.T) {
	good := string(encode(t, irtest.Worked()))
	deep := strings.Repeat("[", 1<<20)
	for name, bad := range map[string]string{
		"deep nesting at the top":       deep,
		"deep nesting in unknown field": `{"x":` + deep,
		"deep nesting in embedded JSON": strings.Replace(good, `"ext": {}`, `"ext": {"a": `+strings.Repeat("[", 300)+strings.Repeat("]", 300)+`}`, 1),
		"very many mistakes":            `{"nodes": [` + strings.Repeat("1,", 100_000) + `1]}`,
	} {
		_, err := ir.Decode([]byte(bad))
		var list ir.DecodeErrors
		if !errors.As(err, &list) || len(list) > 50 || len(err.Error()) > 100_000 {
			t.Errorf("%s: %d mistakes, %.200v", name, len(list), err)
		}
	}
}

func TestNormalizeJSONKeepsMeaning(t *testing.T) {
	got, err := ir.NormalizeJSON(json.RawMessage(" { \"b\" : 1.0 , \"a\" : [ \"\\u0041\\ud83d\\ude00\\ud800\" ] } "))
	if want := `{"a":["A😀` + "\uFFFD" + `"],"b":1.0}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	if got, err := ir.NormalizeJSON(nil); got != nil || err != nil {
		t.Errorf("nothing became %s, %v", got, err)
	}
}

func FuzzCodec(f *testing.F) {
	// Small seeds: the fuzzer is slow on large ones.
	small := irtest.Worked()
	small.Nodes = small.Nodes[:1]
	f.Add(encode(f, small))
	f.Add(encode(f, &ir.Epic{IR: ir.Version}))
	f.Add(encode(f, &ir.Epic{IR: ir.Version, Nodes: []ir.Node{{Ext: map[string]json.RawMessage{"a": json.RawMessage(`{"b":[1.0]}`)}}}}))
	f.Add(encode(f, &ir.Epic{IR: ir.Version, Nodes: graph("1.1: 1.3 1.3; 1.1: ~1.1; 1.3: 1.1 1.3; : ")}))
	f.Add([]byte(`{"ir":"ralph.ir/v1","x":[1e9,"\ud800"]}`))
	f.Add([]byte("<<<<<<< HEAD\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := ir.Decode(b)
		var digest *ir.DigestError
		if err != nil && !errors.As(err, &digest) {
			if err.Error() == "" || e != nil {
				t.Fatalf("an error without words, or with an epic: %v", err)
			}
			return
		}
		if !json.Valid(b) {
			t.Fatalf("decoded what is not JSON: %q", b)
		}
		// Whatever decodes can be looked at by everything else without harm.
		e.Verify()
		e.Stats()
		ir.RedundantEdges(e.Nodes)
		ir.Diff(irtest.Worked(), e).Markdown()
		_ = ir.Diff(e, irtest.Worked()).Text()
		for _, c := range ir.Cycles(e.Nodes) {
			ir.Impact(e.Nodes, c[0])
		}
		ir.Seal(e)
		first, err := ir.Encode(e)
		if err != nil {
			t.Fatalf("encode what was decoded: %v", err)
		}
		again, err := ir.Decode(first)
		if err != nil {
			t.Fatalf("decode what was encoded: %v", err)
		}
		e.Digest = again.Digest
		if !reflect.DeepEqual(again, e) {
			t.Fatal("decode∘encode is not the identity")
		}
	})
}

// FuzzNormalizeJSON holds the scanner against encoding/json.
func FuzzNormalizeJSON(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5e+3,-0.0,true,null,"\u00e9\n"]}`, `[[],{}]`, ` 1 `, `"\ud83d\ude00"`, `01`, `{"a":1,"a":2}`, `.5`, `-`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) == 0 {
			return
		}
		got, err := ir.NormalizeJSON(b)
		if err == nil != json.Valid(b) {
			msg := ""
			if err != nil {
				msg = err.Error()
			}
			for _, stricter := range []string{"appears twice", "nested deeper", "not UTF-8"} {
				if strings.Contains(msg, stricter) {
					return
				}
			}
			t.Fatalf("%q: %v, encoding/json says %v", b, err, json.Valid(b))
		}
		if err != nil {
			return
		}
		var x, y any
		if json.Unmarshal(b, &x) == nil && (json.Unmarshal(got, &y) != nil || !reflect.DeepEqual(x, y)) {
			t.Fatalf("%q became %q", b, got)
		}
	})
}
