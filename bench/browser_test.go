package bench_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/ralph-compiler/ralph/bench"
	"github.com/ralph-compiler/ralph/bench/simulated"
)

// browsers are the names under which Chromium is installed.
var browsers = []string{"chromium", "chromium-headless-shell", "chromium-browser", "google-chrome"}

// chromium is the browser that CHROMIUM names, or the first that is installed; "" if there is
// none.
func chromium() string {
	names := browsers
	if named := os.Getenv("CHROMIUM"); named != "" {
		names = []string{named}
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// seen is what the browser measured.
type seen struct {
	JSGz    float64 `json:"js_gz"`    // bytes of JavaScript of the first view, compressed
	FirstMS float64 `json:"first_ms"` // from the begin of the page until the graph is painted, median of 3
	FrameMS float64 `json:"frame_ms"` // between two frames while the picture is moved about, median
	Heap    float64 `json:"heap"`     // bytes of the page's JavaScript, collected
	Drawn   float64 `json:"drawn"`    // sprints that have a cell in the picture
	All     float64 `json:"all"`      // sprints that the page says there are
}

// BenchmarkPicture: the graph of 10,000 sprints, phases shut, in headless Chromium: the first
// picture in at most 2 s, frames while it is moved of at most 33 ms, at most 40 MB, and at
// most 150 kB of JavaScript for the first view. It says how many sprints were drawn.
func BenchmarkPicture(b *testing.B) {
	e2e, err := filepath.Abs("../web/e2e")
	if err != nil {
		b.Fatal(err)
	}
	browser := chromium()
	_, noNode := exec.LookPath("node")
	_, noModules := os.Stat(filepath.Join(e2e, "node_modules", "@playwright", "test"))
	if browser == "" || noNode != nil || noModules != nil {
		fmt.Fprintf(os.Stderr, "\n*** NO FIGURES OF THE BROWSER: %s needs Chromium, Node.js and Playwright (make web-e2e installs it into web/e2e) ***\n\n", b.Name())
		b.Skip()
	}
	ralph, _, _, _ := bench.Programs(b)
	dir := filepath.Join(b.TempDir(), "big")
	if _, err := simulated.Make(ralph, bench.Size(10_000), dir); err != nil {
		b.Fatal(err)
	}
	s := serve(b, ralph, dir)
	var repos []struct{ Epics []struct{ ID string } }
	body, _ := s.get(&http.Client{Transport: &http.Transport{}}, "/repos")
	if err := json.Unmarshal(body, &repos); err != nil || len(repos) != 1 || len(repos[0].Epics) != 1 {
		b.Fatalf("%v %s", err, body)
	}
	for b.Loop() {
		cmd := exec.CommandContext(b.Context(), "node", "measure.mjs", s.url+"/#t="+s.token, repos[0].Epics[0].ID)
		cmd.Dir, cmd.Stderr = e2e, os.Stderr
		cmd.Env = append(os.Environ(), "CHROMIUM="+browser)
		cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
		out, err := cmd.Output()
		var got seen
		if err == nil {
			err = json.Unmarshal(out, &got)
		}
		if err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		report(b, got)
	}
}

func report(b *testing.B, got seen) {
	if got.Drawn == 0 || got.Drawn != got.All {
		b.Fatalf("%.0f of %.0f sprints were drawn", got.Drawn, got.All)
	}
	b.ReportMetric(got.Drawn, "sprints-drawn")
	b.ReportMetric(got.FirstMS, "first-picture-ms")
	b.ReportMetric(got.FrameMS, "frame-p50-ms")
	b.ReportMetric(got.Heap/1e6, "heap-MB")
	b.ReportMetric(got.JSGz/1e3, "js-gz-kB")
}
