//go:build unix

package process

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
)

func TestMuchOutputGrowsNoMemory(t *testing.T) { // 100 MB and 1 GB of output: bounded
	s := sh("head -c 200000000 /dev/zero; echo END")
	s.Stdout = filepath.Join(t.TempDir(), "out")
	var heard atomic.Int64
	s.Tap = func(_ bool, b []byte) { heard.Add(int64(len(b))) }
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := Run(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 24<<20 {
		t.Errorf("%d bytes were allocated for 200 MB of output", used)
	}
	st, err := os.Stat(s.Stdout)
	if err != nil || st.Size() > defaultCap+100 || st.Size() < defaultCap {
		t.Errorf("kept %v, %v", st, err)
	}
	if end, err := Tail(s.Stdout, 10); err != nil || !strings.HasSuffix(end, "END\n") {
		t.Errorf("ends with %q, %v", end, err)
	}
	if heard.Load() != 200_000_004 {
		t.Errorf("heard %d bytes", heard.Load())
	}
}

func TestASinkKeepsBeginningAndEnd(t *testing.T) {
	for _, size := range []int{0, 1, 49, 50, 51, 99, 100, 101, 149, 150, 1000} {
		for _, piece := range []int{1, 7, 60, 2000} {
			all := make([]byte, size)
			for i := range all {
				all[i] = byte('a' + i%23)
			}
			path := filepath.Join(t.TempDir(), "out")
			s, err := create(path, 100, nil)
			if err != nil {
				t.Fatal(err)
			}
			for rest := all; len(rest) > 0; {
				n, err := s.Write(rest[:min(piece, len(rest))])
				if err != nil || n == 0 {
					t.Fatal(n, err)
				}
				rest = rest[n:]
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			want := all
			if size > 100 {
				want = append(append(bytes.Clone(all[:50]), fmt.Sprintf("\n[%d bytes are left out here]\n", size-100)...), all[size-50:]...)
			}
			if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d bytes in pieces of %d: got %q, want %q, %v", size, piece, got, want, err)
			}
		}
	}
}
