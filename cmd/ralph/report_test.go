//go:build unix

package main

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

func TestReportIsOnePageAboutEverything(t *testing.T) { // L0-08, S1-54, S0-126, S2-38
	t.Parallel()
	r := newApplyRepo(t, humanEpic(func(e *ir.Epic) {
		e.Epic.Title = `<script>alert("x")</script> & more`
		e.Nodes[0].Title = `</svg><img src=x onerror=alert(1)>`
	}))
	r.run(exitWaiting)
	page := r.ralph(exitDone, "report", "-o", "-")
	for _, want := range []string{
		"&lt;script&gt;", "1.1", "What waits for you", "ralph approve 1.1", "ralph reject 1.1 --as ada -m", "<svg", "gate <strong>check</strong>", "needs 1.1 (waiting)", "cost unknown",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, never := range []string{"<script", "<img", "<link", ` src="`, "@import", "url(", "ZgotmplZ"} {
		if strings.Contains(page, never) {
			t.Errorf("the page holds %q", never)
		}
	}
	d := xml.NewDecoder(strings.NewReader(regexp.MustCompile(`(?s)<svg.*?</svg>`).FindString(page)))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("the drawing: %v", err)
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

func TestADrawingHasRoomForEveryNode(t *testing.T) {
	t.Parallel()
	lines := []string{"0"}
	needs := ""
	for i := 1; i <= 30; i++ {
		lines = append(lines, fmt.Sprintf("1.%d: 0", i))
		needs += fmt.Sprintf(" 1.%d", i)
	}
	e := executortest.Epic(append(lines, "2: 0"+needs, "3: 1.7"))
	views := []executor.NodeView{{Key: executor.Integration, ID: executor.Integration}}
	for i := range e.Nodes {
		views = append(views, executor.NodeView{Key: e.Nodes[i].Key, Title: e.Nodes[i].Title})
	}
	d := drawGraph(e, views)
	if got, want := len(d.Boxes), len(e.Nodes)+1; got != want {
		t.Errorf("%d boxes, want %d", got, want)
	}
	if got, want := len(d.Lines), 30+30+1+2; got != want { // 0→2 is implied; 2 and 3 lead to the sum
		t.Errorf("%d lines, want %d", got, want)
	}
	for i, a := range d.Boxes {
		if a.X < 0 || a.Y < drawTop || a.X+a.W > d.Width || a.Y+a.H > d.Height {
			t.Errorf("%s lies outside: %+v of %d × %d", a.Key, a, d.Width, d.Height)
		}
		for _, b := range d.Boxes[:i] {
			if a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H {
				t.Errorf("%s and %s overlap", a.Key, b.Key)
			}
		}
	}
}
