package foreign

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/diag"
)

// One object, a list, one a line, and bd's envelope hold the same objects, each with
// its place in the file.
func TestObjectsOfEveryShape(t *testing.T) { // S4-109
	for name, text := range map[string]string{
		"one":             `{"id": "a"}`,
		"list":            `[{"id": "a"}, {"id": "b"}]`,
		"lines":           "{\"id\": \"a\"}\n\n{\"id\": \"b\"}\n",
		"envelope":        `{"schema_version": 1, "data": [{"id": "a"}, {"id": "b"}]}`,
		"one with data":   `{"data": [{"id": "b"}], "id": "a"}`,
		"one of a schema": `{"schema_version": 1, "id": "a"}`,
		"byte order mark": "\xef\xbb\xbf{\"id\": \"a\"}\r\n{\"id\": \"b\"}",
	} {
		r := Reader{File: diag.NewFile("x.json", []byte(text)), Format: "x"}
		var got []string
		for _, v := range r.Objects() {
			id := v.Get("id")
			got = append(got, text[id.Start:id.End])
		}
		want := `"a" "b"`
		if strings.HasPrefix(name, "one") {
			want = `"a"`
		}
		if strings.Join(got, " ") != want || len(r.Diags) > 0 {
			t.Errorf("%s: %v, %v, want %s", name, got, r.Diags, want)
		}
	}
}

// A line that cannot be read does not hide the others, nor their mistakes.
func TestEveryBadLineIsReported(t *testing.T) { // S0-150
	r := Reader{File: diag.NewFile("x.jsonl", []byte("{\"id\": \"a\"}\n{\"id\": }\n[1]\n{\"id\": \"d\"}\n")), Format: "x"}
	if n := len(r.Objects()); n != 2 || len(r.Diags) != 2 {
		t.Fatalf("%d objects, %v", n, r.Diags)
	}
	for i, want := range []int{2, 3} {
		if line := r.File.Position(r.Diags[i].Range.Start).Line; line != want {
			t.Errorf("diagnostic %d is in line %d, want %d", i, line, want)
		}
	}
}

// What is too large is not read, and how large it may be is said; what is JSON and no
// object is not called unreadable.
func TestWhatIsTooLargeOrNoObject(t *testing.T) { // S0-150
	r := Reader{File: diag.NewFile("x.json", make([]byte, 3<<20)), Format: "x"}
	if r.Object(1<<20) != nil || len(r.Diags) != 1 || r.Diags[0].Detail != "It has 3.0 MB; at most 1.0 MB are read. Split it, or leave out what is not needed." {
		t.Errorf("%v", r.Diags)
	}
	for _, text := range []string{"[]", "42"} {
		r := Reader{File: diag.NewFile("x.json", []byte(text)), Format: "x"}
		if r.Object(1<<20) != nil || len(r.Diags) != 1 || r.Diags[0].Summary != "the file is not what it has to be" {
			t.Errorf("%s: %v", text, r.Diags)
		}
	}
}

// What is no JSON is found where it stands.
func TestTheCulpritIsFound(t *testing.T) { // S0-150
	for text, want := range map[string]string{
		"{\"a\": 1,\n \"b\":\n}": "3:1", "{\"a\":}": "1:6", "{\"a\" 1}": "1:6", "{\"a\": tru}": "1:10", "{\"a\": 1,}": "1:9", "{a: 1}": "1:2",
		"{\"a\": 'x'}": "1:7", "{}\n}": "2:1", "{}  {}": "1:5", "{},": "1:3", "{\"a\": }\r\n{}": "1:7", "{\"a\": \"x\ny\"}": "1:9", "[1 2]": "1:4", "{\"a\": 01}": "1:8",
	} {
		r := Reader{File: diag.NewFile("x.json", []byte(text)), Format: "x"}
		r.Objects()
		if len(r.Diags) != 1 {
			t.Errorf("%q: %v", text, r.Diags)
			continue
		}
		p := r.File.Position(r.Diags[0].Range.Start)
		if got := fmt.Sprintf("%d:%d", p.Line, p.Column); got != want {
			t.Errorf("%q: %s, want %s: %v", text, got, want, r.Diags[0].Detail)
		}
	}
}

// JSON in a text is read as what it is; its place is the text.
func TestJSONInAText(t *testing.T) { // S0-01
	text := `{"a": "[{\"b\": 3}]", "c": "3", "d": "plain", "e": "\"quoted\"", "f": 1}`
	r := Reader{File: diag.NewFile("x.json", []byte(text)), Format: "x"}
	o := r.Object(1000)
	b := o.Get("a").Embedded().Items[0].Get("b")
	if b.Pointer != "/a/0/b" || b.Text != "3" || text[b.Start:b.End] != `"[{\"b\": 3}]"` {
		t.Errorf("%+v", b)
	}
	if m := o.Get("a").Embedded().Items[0].Members[0]; m.Start != b.Start || m.End != b.End {
		t.Errorf("the place of a key is %+v", m)
	}
	if x := o.Get("e").Embedded().Text; x != `"quoted"` || o.Get("no").Embedded() != nil {
		t.Errorf("a text in a text is %s", x)
	}
	for name, kind := range map[string]byte{"c": 'n', "d": 's', "e": 's', "f": 'n'} {
		if got := o.Get(name).Embedded().Kind; got != kind {
			t.Errorf("%s is %c, want %c", name, got, kind)
		}
	}
}

// "integration" is the name of the sum of a run.
func TestAnIssueWhoseIdIsRalphsOwnIsNotRun(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]bool{
		"bd-a1b2": true, "bd-a1b2.3": true, "A_b": true, "integration": false, "bd..a": false, "bd-a.lock": false, "-a": false, "a/b": false, "a b": false, "": false,
		strings.Repeat("a", 64): true, strings.Repeat("a", 65): false,
	} {
		if ValidID(id) != want {
			t.Errorf("ValidID(%q) is %v", id, !want)
		}
	}
}
