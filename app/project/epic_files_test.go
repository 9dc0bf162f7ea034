package project

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/ir"
)

// sparse is a file that begins with head and is size bytes long.
func sparse(t *testing.T, head string, size int64) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "f.json")
	if err := os.WriteFile(file, []byte(head), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(file, size); err != nil {
		t.Skip("no sparse files here:", err)
	}
	return file
}

func TestAnEpicMayBeLargerThanAPlan(t *testing.T) {
	const epic = "{\n  \"ir\": \"ralph.ir/v1\","
	if got := ReadsUpTo([]byte(epic)); got != ir.MaxBytes {
		t.Errorf("of an epic %d bytes are read, want %d", got, ir.MaxBytes)
	}
	for name, c := range map[string]struct {
		head string
		size int64
		want string
	}{
		"a file that begins otherwise": {"# plan\n" + strings.Repeat(" ", epicHead) + epic, MaxFile + 1, "at most 256 MB are read"},
		"an epic beyond its own limit": {epic, ir.MaxBytes + 1, "at most 1024 MB are read"},
	} {
		if _, err := ReadFile(sparse(t, c.head, c.size)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

func TestReadFileReadsWhatIsThere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	for _, size := range []int{0, 1, epicHead - 1, epicHead, epicHead + 1, 3*epicHead + 5} {
		want := strings.Repeat("0123456789abcde", size/15+1)[:size]
		if err := os.WriteFile(file, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadFile(file); err != nil || string(got) != want {
			t.Errorf("of %d bytes %d came, or others (%v)", size, len(got), err)
		}
	}
}

func TestMayBeEpicAndSameBytes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f.json")
	for content, want := range map[string]bool{
		"": true, " \n": true, `{"ir": "ralph.ir/v1"}`: true, `{"a": "` + strings.Repeat("x", 2*epicHead) + `", "ir": "ralph.ir/v1"}`: true,
		"notes": false, "{}": false,
	} {
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := MayBeEpic(file); got != want || err != nil {
			t.Errorf("%q: got %v, %v; want %v", content, got, err, want)
		}
	}
	long := []byte(strings.Repeat("0123456789", 60_000))
	if err := os.WriteFile(file, long, 0o644); err != nil {
		t.Fatal(err)
	}
	other := append([]byte{}, long...)
	other[len(other)-1] = 'x'
	if !SameBytes(file, long) || SameBytes(file, other) || SameBytes(file, long[1:]) || SameBytes(file, append(long, 'x')) || SameBytes(file+"x", long) {
		t.Error("sameBytes is wrong")
	}
}
