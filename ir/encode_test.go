package ir_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/irtest"
)

// standard encodes e with encoding/json, the slow way to the same bytes but
// for the digest.
func standard(t *testing.T, e *ir.Epic) []byte {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(e); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func encode(t testing.TB, e *ir.Epic) []byte {
	t.Helper()
	b, err := ir.Encode(e)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestEncodeWritesWhatEncodingJSONWrites(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	epics := []*ir.Epic{irtest.Worked(), irtest.Rich(), irtest.Large(300)}
	for range 30 {
		e := &ir.Epic{}
		fill(rnd, reflect.ValueOf(e).Elem(), 0)
		epics = append(epics, e)
	}
	for i, e := range epics {
		got := encode(t, e)
		same := *e
		same.Digest = digestOf(t, got)
		complete(reflect.ValueOf(&same).Elem())
		if want := standard(t, &same); !bytes.Equal(got, want) {
			t.Fatalf("epic %d: %s", i, firstDifference(got, want))
		}
	}
}

// S0-05 S0-06 S0-08 S0-13 S0-21 S0-22 S0-23 S0-24 S0-25 S0-26 S0-27 K19 K20 K22
func TestEncodeIsOneScalarALineWithEveryField(t *testing.T) {
	e := irtest.Worked()
	text := string(encode(t, e))
	for _, want := range []string{
		"{\n  \"ir\": \"ralph.ir/v1\",\n  \"epic\": {\n    \"id\": \"bd-e00001\",",
		"\n      \"key\": \"1.2a\",\n      \"kind\": \"work\",\n      \"done\": false,\n      \"title\": \"Import\",",
		"\n      \"section\": \"## Phase 1: Phase 1 > ### Sprint 1.2a: Import\",",
		"\n      \"after\": [\n        {\n          \"key\": \"1.1\",\n          \"from\": \"number\",\n          \"type\": \"blocks\"\n        }\n      ],\n      \"merges\": [],",
		"\n      \"ext\": {},",
		"\n    \"tracker\": null,",
		"\n  \"waivers\": [],",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("not in the file: %s", want)
		}
	}
	if !strings.HasSuffix(text, "\"\n}\n") || strings.Contains(text, "\r") || strings.Contains(text, "null,\n    \"fallback") {
		t.Errorf("the file ends with %q", text[len(text)-40:])
	}
}

// A few large entries among many small ones must not be taken for the usual size.
func TestEncodeReservesNoMoreThanItNeeds(t *testing.T) {
	large := strings.Repeat("x", 4<<20)
	for name, change := range map[string]func(e *ir.Epic){
		"nothing is large": func(*ir.Epic) {},
		"a gate is large":  func(e *ir.Epic) { g := e.Gates["g0"]; g.Run = large; e.Gates["g0"] = g },
		"a node is large":  func(e *ir.Epic) { e.Nodes[0].Prompt = []string{large} },
	} {
		e := &ir.Epic{Gates: map[string]ir.Gate{}, Nodes: make([]ir.Node, 20_000)}
		for i := range e.Nodes {
			e.Gates[fmt.Sprintf("g%d", i)] = ir.Gate{Kind: "command", Run: "true"}
		}
		change(e)
		b, err := ir.Encode(e)
		if err != nil {
			t.Fatal(err)
		}
		if cap(b) > len(b)+len(b)/2 {
			t.Errorf("%s: %d bytes, room for %d", name, len(b), cap(b))
		}
	}
}

func TestEncodeNormalisesEmbeddedJSON(t *testing.T) {
	e := irtest.Worked()
	e.Nodes[0].Ext = map[string]json.RawMessage{"bead": json.RawMessage(`{"z": [1.50, 2E3 ,-0],"a":{"é":"\u00e9<&>","b":{}}, "e":[]}`)}
	text := string(encode(t, e))
	want := `      "ext": {
        "bead": {
          "a": {
            "b": {},
            "é": "é<&>"
          },
          "e": [],
          "z": [
            1.50,
            2E3,
            -0
          ]
        }
      },`
	if !strings.Contains(text, want) {
		t.Errorf("embedded JSON is not normalised:\n%s", text[strings.Index(text, `"ext"`):][:300])
	}
	for _, bad := range []string{`{`, `{"a":1,"a":2}`, `[1,]`, `nul`, `1 2`, "\"\x01\"", strings.Repeat("[", 300) + strings.Repeat("]", 300)} {
		e.Nodes[0].Ext["bead"] = json.RawMessage(bad)
		if _, err := ir.Encode(e); err == nil {
			t.Errorf("embedded %.20q was written", bad)
		}
	}
}

func TestEncodeReplacesInvalidUTF8(t *testing.T) {
	e := irtest.Worked()
	e.Nodes[0].Title = "a\xff\xfeb"
	back, err := ir.Decode(encode(t, e))
	if err != nil {
		t.Fatal(err)
	}
	if got := back.Nodes[0].Title; got != "a\uFFFD\uFFFDb" {
		t.Errorf("title became %q", got)
	}
	e.Gates["a\xff"], e.Gates["a\xfe"] = ir.Gate{}, ir.Gate{}
	if _, err := ir.Encode(e); err == nil {
		t.Error("two gates with the same name were written")
	}
}

// S4-142
func TestEncodeIsDeterministic(t *testing.T) {
	first := encode(t, irtest.Rich())
	for range 100 {
		if again := encode(t, irtest.Rich()); !bytes.Equal(first, again) {
			t.Fatal(firstDifference(again, first))
		}
	}
}

func digestOf(t *testing.T, b []byte) string {
	t.Helper()
	var x struct{ Digest string }
	if err := json.Unmarshal(b, &x); err != nil {
		t.Fatal(err)
	}
	return x.Digest
}

func firstDifference(got, want []byte) string {
	i := 0
	for i < min(len(got), len(want)) && got[i] == want[i] {
		i++
	}
	around := func(b []byte) []byte { return b[max(0, i-80):min(len(b), i+80)] }
	return "differs at byte " + string(around(got)) + "\n---- want\n" + string(around(want))
}

// fill sets every field of v to something random that JSON keeps as it is.
func fill(r *rand.Rand, v reflect.Value, depth int) {
	words := []string{"", "a", "zürich", "tab\tquote\"back\\", "<b>&amp;", "\u2028\u2029", "\x00\x1f\x7f\b\f\r\n", "日本 😀", "\u202e"}
	if v.Type() == reflect.TypeFor[json.RawMessage]() {
		raw := []string{"", "", `{"a":[1,2.50,{"b":null}],"c":"x"}`, `[]`, `"s"`, `true`}[r.IntN(6)]
		if raw != "" {
			v.SetBytes([]byte(raw))
		}
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(words[r.IntN(len(words))] + words[r.IntN(len(words))])
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int, reflect.Int64:
		v.SetInt(r.Int64() >> r.IntN(64))
	case reflect.Struct:
		for i := range v.NumField() {
			fill(r, v.Field(i), depth+1)
		}
	case reflect.Pointer:
		if r.IntN(2) == 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(r, v.Elem(), depth+1)
		}
	case reflect.Slice:
		for range r.IntN(4) {
			x := reflect.New(v.Type().Elem()).Elem()
			fill(r, x, depth+1)
			v.Set(reflect.Append(v, x))
		}
	case reflect.Map:
		for range r.IntN(3) {
			k, x := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(r, k, depth+1)
			fill(r, x, depth+1)
			if raw, isRaw := x.Interface().(json.RawMessage); isRaw && raw == nil {
				continue
			}
			if v.IsNil() {
				v.Set(reflect.MakeMap(v.Type()))
			}
			v.SetMapIndex(k, x)
		}
	}
}

// complete replaces nil slices and maps by empty ones, as the file has them.
func complete(v reflect.Value) {
	if v.Type() == reflect.TypeFor[json.RawMessage]() {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			complete(v.Field(i))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			complete(v.Elem())
		}
	case reflect.Slice:
		if v.IsNil() {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
		for i := range v.Len() {
			complete(v.Index(i))
		}
	case reflect.Map:
		if v.IsNil() {
			v.Set(reflect.MakeMap(v.Type()))
		}
		for _, k := range v.MapKeys() {
			x := reflect.New(v.Type().Elem()).Elem()
			x.Set(v.MapIndex(k))
			complete(x)
			v.SetMapIndex(k, x)
		}
	}
}
