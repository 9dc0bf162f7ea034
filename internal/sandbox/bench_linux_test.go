package sandbox_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/sandbox"
	"github.com/ralph-compiler/ralph/internal/wall"
)

// BenchmarkSandbox runs /bin/true in a sandbox, and beside it without one: more-ms is what
// the sandbox costs a program.
func BenchmarkSandbox(b *testing.B) {
	once := func(w process.Wall) time.Duration {
		begun := time.Now()
		_, err := process.Run(context.Background(), process.Spec{Argv: []string{"/bin/true"}, Dir: "/", Env: []string{"PATH=/usr/bin:/bin", "HOME=" + os.Getenv("HOME")}, Wall: w})
		if err != nil {
			b.Skipf("SKIPPED: %v", err)
		}
		return time.Since(begun)
	}
	s := sandbox.New(wall.Spec{Name: "bench", Kind: wall.Namespaces})
	once(s)
	var in, out time.Duration
	for b.Loop() {
		in += once(s)
		out += once(nil)
	}
	n := float64(b.N)
	b.ReportMetric(float64(in-out)/n/1e6, "more-ms")
	b.ReportMetric(float64(in)/float64(out), "in/out")
}

// BenchmarkGoTest tests a small package of Go with the user's caches below, and beside it
// without a sandbox: the sandbox must not make builds begin anew.
func BenchmarkGoTest(b *testing.B) {
	dir, top := b.TempDir(), b.TempDir()
	for name, text := range map[string]string{
		"go.mod":    "module example.org/small\n\ngo 1.24\n",
		"a.go":      "package small\n\nimport \"net/http\"\n\nvar Client http.Client\n",
		"a_test.go": "package small\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) { if Client.Timeout != 0 { t.Fail() } }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	out, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE").Output()
	if err != nil {
		b.Fatal(err)
	}
	where := strings.Fields(string(out))
	box := sandbox.New(wall.Spec{Name: "bench", Kind: wall.Namespaces, Mounts: []wall.Mount{{From: dir, Write: true}}, Caches: []wall.Cache{
		{Lower: where[0], Upper: filepath.Join(top, "build")}, {Lower: where[1], Upper: filepath.Join(top, "modules")},
	}})
	once := func(w process.Wall) time.Duration {
		begun, log := time.Now(), filepath.Join(top, "log")
		res, err := process.Run(context.Background(), process.Spec{
			Argv: []string{"go", "test", "-count=1", "."}, Dir: dir, Env: append(os.Environ(), "GOFLAGS="), Stdout: log, Stderr: log, Wall: w,
		})
		if err != nil || res.Code != 0 {
			said, _ := os.ReadFile(log)
			b.Fatalf("%v: exit %d\n%s", err, res.Code, said)
		}
		return time.Since(begun)
	}
	if _, err := sandbox.Try(b.Context(), wall.Namespaces); err != nil {
		b.Skipf("SKIPPED: %v", err)
	}
	once(nil) // fills the cache
	once(box)
	var in, plain time.Duration
	for b.Loop() {
		in += once(box)
		plain += once(nil)
	}
	b.ReportMetric(float64(in)/float64(plain), "in/out")
	b.ReportMetric(float64(plain.Milliseconds())/float64(b.N), "plain-ms")
}
