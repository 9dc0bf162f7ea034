package foreign

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
)

func reader(text string) *Reader {
	return &Reader{File: diag.NewFile("x.json", []byte(text)), Format: "x"}
}

// A file is read up to its bound, and JSON as deep as 64 levels.
func TestBounds(t *testing.T) {
	if text := `{"a": 1}`; reader(text).Object(len(text)) == nil || reader(text).Object(len(text)-1) != nil {
		t.Error("the bound is another one")
	}
	for open, end := range map[string]string{"[": "]", `{"a":`: "}"} {
		for depth, ok := range map[int]bool{maxDepth: true, maxDepth + 1: false} {
			_, err := parse([]byte(strings.Repeat(open, depth)+"1"+strings.Repeat(end, depth)), 0)
			if (err == nil) != ok {
				t.Errorf("%d levels of %s: %v", depth, open, err)
			}
		}
	}
}

// Keys have one meaning in every spelling, once; those without one are kept, and named in
// one note with their pointers.
func TestKeys(t *testing.T) {
	r := reader(`{"time-out": 1, "time_out": 2, "TimeOut": 3, "a/b~c": 1.50, "a/b~c": 7, "empty": null, "Other": {"x": [true, null, "y"]}}`)
	o := r.Object(1000)
	ext := map[string]json.RawMessage{}
	f := r.Fields(o, ext, "timeout", "empty")
	if f.Get("time_out").Text != "1" || f.Get("empty") != nil || len(f) != 1 {
		t.Errorf("the keys are %v", f)
	}
	if got := string(Raw(ext)); got != `{"Other":{"x":[true,null,"y"]},"a/b~c":1.50}` {
		t.Errorf("%s is kept", got)
	}
	if len(r.Diags) != 3 || r.Diags[0].Detail != "time-out is the same key in another spelling, or the same one. Keep one of them." {
		t.Errorf("it says %v", r.Diags)
	}
	r.Unknown()
	if d := r.Diags[len(r.Diags)-1]; len(r.Diags) != 4 || !strings.HasPrefix(d.Detail, "/a~1b~0c, /Other. ") {
		t.Errorf("the note is %v", d)
	}
	if o.Any("OTHER") == nil || o.Any("empty") != nil || o.Any("Empty") != nil || !o.Has("EMPTY") || o.Any("timeout").Text != "1" || o.Any("TimeOut").Text != "3" {
		t.Error("a key in any spelling is another one, or a null is none")
	}
}

// What values are taken for numbers, texts and ids; all others are reported once.
func TestValues(t *testing.T) {
	whole := func(r *Reader, v *Value) string {
		n, ok := r.Whole(v, 1, 100)
		return fmt.Sprint(n, ok)
	}
	text := func(r *Reader, v *Value) string { return r.Text(v, "what it is") }
	id := func(r *Reader, v *Value) string {
		var n ir.DraftNode
		ok := r.ID(v, "the id", &n)
		return fmt.Sprintf("%s %s %t %t", n.ID, n.Key, n.IDRange == n.KeyRange, ok)
	}
	word := func(r *Reader, v *Value) string { return r.Word(v, "a", "b") }
	for _, c := range []struct {
		value string
		as    func(*Reader, *Value) string
		want  string
	}{
		{`1`, whole, "1 true"},
		{`100`, whole, "100 true"},
		{`30.0`, whole, "30 true"},
		{`1e2`, whole, "100 true"},
		{`0`, whole, "0 false 1"},
		{`101`, whole, "0 false 1"},
		{`30.5`, whole, "0 false 1"},
		{`1e999`, whole, "0 false 1"},
		{`"5"`, whole, "0 false 1"},
		{`true`, whole, "0 false 1"},
		{`null`, whole, "0 false"},
		{`" a "`, text, " a "},
		{`"a\u0000"`, text, " 1"},
		{`" "`, text, " 1"},
		{`5`, text, " 1"},
		{`null`, text, ""},
		{`"a.b"`, id, "a.b a.b true true"},
		{`"a..b"`, id, "  true false 1"},
		{`" "`, id, "  true false 1"},
		{`"B"`, word, "b"},
		{`"c"`, word, " 1"},
		{`5`, word, " 1"},
		{`null`, word, ""},
	} {
		r := reader(`{"v": ` + c.value + `}`)
		got := c.as(r, r.Object(100).Any("v"))
		if len(r.Diags) > 0 {
			got += fmt.Sprint(" ", len(r.Diags))
		}
		if got != c.want {
			t.Errorf("%s is %q, want %q: %v", c.value, got, c.want, r.Diags)
		}
	}
	names := map[string]bool{"a": true, "a-2": true}
	if got := FreeName(names, "a") + FreeName(names, "a") + FreeName(names, "b"); got != "a-3a-4b" {
		t.Errorf("the names are %s", got)
	}
}

// What is written: keys in their order, each once, characters and numbers as they are.
func TestWhatIsWritten(t *testing.T) {
	var o Object
	o.Text("a", "")
	o.Text("b", "<&>")
	o.Add("c", nil)
	o.Add("c", json.RawMessage("null"))
	o.Add("d", json.RawMessage("1.50"))
	Put(&o, "b", "x<")
	o.Rest(map[string]json.RawMessage{"z": []byte("1"), "e": []byte("{}"), "d": []byte("2"), "no": []byte("3")}, "no")
	if got := string(Raw(o)); got != `{"b":"x<","d":2,"e":{},"z":1}` || string(Raw(Object{})) != "{}" {
		t.Errorf("it is %s", got)
	}
	var b bytes.Buffer
	if err := WriteLines(&b, []string{"<", "b"}); err != nil || b.String() != "\"<\"\n\"b\"\n" {
		t.Errorf("%v in %s", err, b.String())
	}
	b.Reset()
	if err := WriteLines(&b, []any{1, func() {}}); err == nil || !strings.HasPrefix(err.Error(), "line 2: ") || b.Len() > 0 {
		t.Errorf("%v in %s", err, b.String())
	}
	if err := Write(&b, func() {}); err == nil || b.Len() > 0 {
		t.Errorf("%v in %s", err, b.String())
	}
}

// What was kept comes back, numbers as they were; what is broken is said, with the node.
func TestWhatWasKeptComesBack(t *testing.T) {
	for raw, want := range map[string]string{
		`{"a": 1.50, "b": {"c": "<"}}`: `{"a":1.50,"b":{"c":"<"}} <nil>`,
		``:                             `null <nil>`,
		`null`:                         `null <nil>`,
		`{}`:                           `{} <nil>`,
		`[1]`:                          `null the foreign keys of node 1.1 (ext.x): `,
		`{`:                            `null the foreign keys of node 1.1 (ext.x): `,
	} {
		kept, err := Kept(&ir.Node{Key: "1.1", Ext: map[string]json.RawMessage{"x": json.RawMessage(raw)}}, "x")
		if got := fmt.Sprint(string(Raw(kept)), " ", err); !strings.HasPrefix(got, want) || err == nil && got != want {
			t.Errorf("%s is %s, want %s", raw, got, want)
		}
	}
	for raw, want := range map[string]int{`[1, 2]`: 2, `[]`: 0, `null`: 0, `5`: 0, ``: 0} {
		if list := List(json.RawMessage(raw)); list == nil || len(list) != want {
			t.Errorf("%s has %q", raw, list)
		}
	}
	if Text([]byte(`"a"`))+Text([]byte(`5`))+Text(nil) != "a" {
		t.Error("only a text is a text")
	}
}
