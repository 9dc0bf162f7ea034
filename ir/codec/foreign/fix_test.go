package foreign

import (
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/diag"
)

// What is no JSON is said with what to write there.
func TestWhatIsNoJSONIsSaidWithTheFix(t *testing.T) {
	for _, c := range []struct{ name, text, says string }{
		{"nothing", "", "It is empty."},
		{"blanks", " \n\n", "It is empty."},
		{"only a byte order mark", "\xef\xbb\xbf\n", "It is empty."},
		{"a word that is no object", "null", "It holds null, not an object or a list of objects."},
		{"cut off", `{"a": [1`, "it ends too early. Close what is open: the file may be cut off."},
		{"cut off in a text", `{"a": "b`, "Close what is open"},
		{"single quotes", `{'a': 1}`, `Write " instead of '.`},
		{"curly quotes", `{“a”: 1}`, `Write " instead of “.`},
		{"a comment", "// a\n{}", "JSON has no comments: remove it."},
		{"a comment with a hash", "{\n# a\n}", "JSON has no comments: remove it."},
		{"a trailing comma", "{\"a\": 1,\n}", "Remove the comma before it."},
		{"a trailing comma in a list", "[1, ]", "Remove the comma before it."},
		{"two commas", `{"a": 1,, "b": 2}`, "Remove one of the commas."},
		{"no comma", "{\"a\": 1\n\"b\": 2}", "Write a comma before it."},
		{"no comma in a list", `[{} {}]`, "Write a comma before it."},
		{"no quotes", `{a: 1}`, `Write the key in double quotes.`},
		{"a word", `{"a": True}`, "Write a text in double quotes; true, false and null in small letters."},
		{"a line end in a text", "{\"a\": \"b\nc\"}", `Write \n for a line end in a text.`},
		{"an escape", `{"a": "C:\dir"}`, `Write \\ for a backslash.`},
		{"UTF-16 without a mark", "{\x00\"\x00", "It is UTF-16."},
		{"YAML", "policies:\n  - a\n", "It looks like YAML or plain text"},
		{"more behind it", "{\n}\n}", "Remove it, or write several objects as a list"},
		{"a line that is cut off", "{\"a\": 1}\n{\"a\": \n{\"a\": 1}\n", "Close what is open"},
		{"UTF-16, the other one", "\x00{\x00\"", "It is UTF-16."},
		{"UTF-16 that begins with a blank", "\t\x00{\x00", "It is UTF-16."},
		{"UTF-16, the other one, that begins with a blank", "\x00\t\x00{", "It is UTF-16."},
		{"UTF-16 with a mark", "\xff\xfe{\x00", "It is UTF-16."},
		{"UTF-16, the other one, with a mark", "\xfe\xff\x00{", "It is UTF-16."},
		{"empty characters", "\x00\x00", "plain text"},
		{"a character that does not show", "\x01\x00", "plain text"},
		{"one character", "{", "Close what is open"},
		{"Latin-1", "{\"a\": \"\xe4\"}", "It is not UTF-8."},
		{"a tab in a text", "{\"a\": \"b\tc\"}", `Write \t for a tab in a text.`},
		{"a carriage return in a text", "{\"a\": \"b\rc\"}", `Write \r for a carriage return in a text.`},
		{"a closing quote", `{"a": ”b”}`, `Write " instead of ”.`},
		{"a long comment", "{/* a */}", "JSON has no comments: remove it."},
		{"a comma alone", `{,}`, "Fix it here."},
		{"no quotes behind a comma", `{"a": 1, b: 2}`, "Write the key in double quotes."},
		{"no key", `{: 1}`, "Fix it here."},
		{"a word behind a value", `{"a" b}`, "Fix it here."},
		{"a word in a list", `[abc]`, "Write a text in double quotes"},
		{"a sign in a list", `[*]`, "Fix it here."},
		{"no comma between texts", `{"a": "b" "c": 1}`, "Write a comma before it."},
		{"no comma before a list", `[1 [2]]`, "Write a comma before it."},
		{"an object for a key", `{{}}`, "Fix it here."},
		{"the wrong end", `[1}`, "Fix it here."},
		{"YAML with braces", "a: {b}\nc: {d}\n", "It looks like YAML or plain text"},
		{"a list with something else", `[{}, 5]`, "/1 has to be an object."},
		{"anything else", `{"a": -}`, "Fix it here."},
	} {
		r := &Reader{File: diag.NewFile("x.json", []byte(c.text))}
		r.Objects()
		if len(r.Diags) != 1 || !strings.Contains(r.Diags[0].Detail, c.says) {
			t.Errorf("%s: %q says\n %v\nwant %q", c.name, c.text, r.Diags, c.says)
		}
	}
}
