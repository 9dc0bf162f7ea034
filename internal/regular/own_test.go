package regular

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoLinkIsFollowedAmongOwnFiles: what an agent planted in the place of a file or of a
// directory above it leads nowhere.
func TestNoLinkIsFollowedAmongOwnFiles(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	user, room := filepath.Join(top, "user"), filepath.Join(top, "room")
	precious := filepath.Join(user, "file")
	if err := errors.Join(os.Mkdir(user, 0o700), os.Mkdir(room, 0o700), os.WriteFile(precious, []byte("precious"), 0o600),
		os.Symlink(user, filepath.Join(room, "dir")), os.Symlink(precious, filepath.Join(room, "link")), os.Link(precious, filepath.Join(room, "hard")),
		os.Symlink(filepath.Join(user, "new"), filepath.Join(room, "dangling")), os.WriteFile(filepath.Join(room, "plain"), []byte("old"), 0o600)); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(room, name) }
	for what, err := range map[string]error{
		"NoLinks of a link":                   NoLinks(at("dir")),
		"NoLinks below a link":                NoLinks(at("dir/none/at/all")),
		"NoLinks with a separator at the end": NoLinks(at("dir") + "/"),
		"MkdirOwn below a link":               MkdirOwn(at("dir/made")),
		"RemoveAllOwn below a link":           RemoveAllOwn(at("dir/file")),
		"WriteOwn below a link":               WriteOwn(at("dir/file"), []byte("x"), 0o600),
		"Own of a link":                       Own(at("link")),
		"ReadOwn of a link":                   second(ReadOwn(at("link"))),
		"ReadOwn below a link":                second(ReadOwn(at("dir/file"))),
		"AppendOwn to a link":                 second(AppendOwn(at("link"), 0o600)),
		"AppendOwn to a dangling link":        second(AppendOwn(at("dangling"), 0o600)),
	} {
		if !errors.Is(err, ErrNot) || !strings.Contains(err.Error(), "symbolic link to "+user) {
			t.Errorf("%s: %v, want an error that says where it leads", what, err)
		}
	}
	for _, name := range []string{"link", "hard", "dangling", "plain", "new"} {
		if err := WriteOwn(at(name), []byte("text"), 0o600); err != nil {
			t.Errorf("WriteOwn(%s): %v", name, err)
		}
		if b, err := ReadOwn(at(name)); string(b) != "text" || err != nil {
			t.Errorf("ReadOwn(%s): %q, %v", name, b, err)
		}
	}
	if err := os.MkdirAll(at("full/x"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"full", "full/x"} {
		if err := WriteOwn(at(name), nil, 0o600); !errors.Is(err, ErrNot) {
			t.Errorf("WriteOwn over a directory: %v", err)
		}
		if st, err := os.Stat(at(name)); err != nil || !st.IsDir() {
			t.Errorf("%s is not a directory any more: %v", name, err)
		}
	}
	if b, _ := os.ReadFile(precious); string(b) != "precious" {
		t.Errorf("the user's file holds %q", b)
	}
	if list, _ := os.ReadDir(user); len(list) != 1 {
		t.Errorf("the user's directory holds %v", list)
	}
}

func second[T any](_ T, err error) error { return err }

// TestThere: the kernel's answer and that of looking at each part are the same.
func TestThere(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(top, name) }
	if err := errors.Join(os.MkdirAll(at("dir/sub"), 0o700), os.WriteFile(at("file"), nil, 0o600), os.Symlink(at("dir"), at("link")), os.Symlink(at("none"), at("dangling"))); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		dir       string
		there, ok bool
	}{
		{"dir", true, true},
		{"dir/", true, true},
		{"dir/sub", true, true},
		{"none", false, true},
		{"dir/none/at/all", false, true},
		{"file", false, false},
		{"file/below", false, false},
		{"link", false, false},
		{"link/", false, false},
		{"link/sub", false, false},
		{"link/none", false, false},
		{"dangling", false, false},
	} {
		dir := top + "/" + test.dir
		there, err := There(dir)
		if there != test.there || (err == nil) != test.ok || err != nil && errors.Is(err, ErrNot) == strings.HasPrefix(test.dir, "file") {
			t.Errorf("There(%s): %t, %v", test.dir, there, err)
		}
		slow, serr := walk(filepath.Clean(dir))
		if slow != there || (serr == nil) != (err == nil) {
			t.Errorf("walk(%s): %t, %v, but There: %t, %v", test.dir, slow, serr, there, err)
		}
	}
}
