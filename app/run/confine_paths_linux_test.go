package run

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/ir"
)

// A socket that a sandbox shows is no file: whoever listens there does what programs inside ask.
func TestASocketThatASandboxShowsIsWarnedOf(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "keys", "gnupg"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"docker.sock", "own", "keys/gnupg/S.gpg-agent"} {
		l, err := net.Listen("unix", filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
	}
	for at, warns := range map[string]bool{"/own": true, "": true, "/keys": true, "/empty": false, "/none": false} {
		for _, s := range []ir.Sandbox{{Kind: "auto", Read: []string{dir + at}}, {Kind: "auto", Write: []string{dir + at}}} {
			epic := &ir.Epic{Sandboxes: map[string]ir.Sandbox{"default": s}}
			got := strings.Join(reaching(epic, []string{"default"}, dir), "\n")
			if strings.HasPrefix(got, "sandbox default shows "+dir+at+", and with it a socket: ") != warns {
				t.Errorf("%+v: %q", s, got)
			}
		}
	}
}
