package policies

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

// S0-46, S0-50, K10
func TestReadAgentFile(t *testing.T) {
	project := fstest.MapFS{
		"a/full.md":    {Data: []byte("---\nname: dev\nmodel: opus\ndescription: writes code\ntools: Read, Bash\n---\nDo it.\n")},
		"a/plain.md":   {Data: []byte("Do it.\n")},
		"a/broken.md":  {Data: []byte("---\nname: tester\ndescription: Examples: <example>user: 'test it'\nmodel: \"sonnet\"\nname: later\n---\n")},
		"a/crlf.md":    {Data: []byte("\ufeff---\r\nname: win\r\nmodel: inherit\r\n---\r\n")},
		"a/open.md":    {Data: []byte("---\nname: x\n")},
		"a/list.md":    {Data: []byte("---\n- a\n---\n")},
		"a/dir/x.md":   {Data: []byte("x")},
		"a/huge.md":    {Data: []byte(strings.Repeat("x", maxReadBytes+1))},
		"a/binary.md":  {Data: []byte("---\nname: \x00\x1b[31m\n---\n")},
		"a/numbers.md": {Data: []byte("---\nname: 7\n---\n")},
	}
	for _, x := range []struct {
		name, path, want string // name model; a code behind "!"; "error"
	}{
		{"front matter", "a/full.md", "dev opus"},
		{"no front matter: the stem is the name", "a/plain.md", "plain "},
		{"invalid YAML is a warning and name and model are found", "a/broken.md", "tester sonnet !agent-file-yaml"},
		{"BOM, CRLF and an inherited model", "./a/crlf.md", "win "},
		{"front matter that never ends is text", "a/open.md", "open "},
		{"front matter that is a list", "a/list.md", "list "},
		{"a number as name", "a/numbers.md", "7 "},
		{"a path out of the project", "../x.md", "error"},
		{"an absolute path", "/etc/passwd", "error"},
		{"a directory", "a/dir", "error"},
		{"a huge file", "a/huge.md", "error"},
	} {
		t.Run(x.name, func(t *testing.T) {
			f, diags, err := ReadAgentFile(project, x.path)
			if err != nil {
				if x.want != "error" {
					t.Fatal(err)
				}
				return
			}
			got := f.Name + " " + f.Model
			for _, d := range diags {
				got += " !" + string(d.Code)
			}
			if got != x.want {
				t.Errorf("got %q, want %q", got, x.want)
			}
			if !strings.HasPrefix(f.Digest, "sha256:") || len(f.Digest) != 71 {
				t.Errorf("digest is %q", f.Digest)
			}
		})
	}
	if _, _, err := ReadAgentFile(project, "a/none.md"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file gives %v", err)
	}
	if _, diags, err := ReadAgentFile(project, "a/binary.md"); err == nil {
		for _, d := range diags {
			if strings.ContainsAny(d.Detail, "\x00\x1b") {
				t.Errorf("control characters in %q", d.Detail)
			}
		}
	}
}
