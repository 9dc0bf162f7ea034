//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/ir"
)

func TestReportIsOnePageAboutEverything(t *testing.T) { // L0-08, S2-38
	t.Parallel()
	r := newApplyRepo(t, humanEpic(func(e *ir.Epic) {
		e.Epic.Title = `<script>alert("x")</script> & more`
		e.Nodes[0].Title = `</noscript><img src=x onerror=alert(1)>`
	}))
	r.run(exit.Waiting)
	page := r.ralph(exit.Done, "report", "-o", "-")
	for _, want := range []string{
		"&lt;script&gt;", "1.1", "Waits for a person", "ralph approve 1.1", "ralph reject 1.1 --as ada -m",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	page, _, _ = strings.Cut(page, `<script type="text/plain" id="licenses">`) // behind it is the page's own script
	for _, never := range []string{"<script>alert", "<img", "<link", "@import", "url(", "ZgotmplZ"} {
		if strings.Contains(page, never) {
			t.Errorf("the page holds %q", never)
		}
	}
	// The checkout is left as it was, also by the page.
	r.says("report", "wrote .git/ralph/bd-epic/report.html")
	if b, err := os.ReadFile(filepath.Join(r.dir, ".git/ralph/bd-epic/report.html")); err != nil || !strings.HasPrefix(string(b), "<!doctype html>") {
		t.Errorf("report.html: %v", err)
	}
	if got := r.git("status", "--porcelain", "report.html"); got != "" {
		t.Errorf("git sees %s", got)
	}
	r.says("report -o night.html", "wrote night.html")
}
