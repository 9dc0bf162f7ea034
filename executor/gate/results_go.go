package gate

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/internal/text"
)

// goTest reads the events of go test -json (test2json).
type goTest struct {
	to     *results
	output map[string]*strings.Builder // of tests and packages that have not ended, by package and test
	broken map[string]bool             // packages with a failed test, or that did not compile
}

func newGoTest(to *results) *goTest {
	return &goTest{to: to, output: map[string]*strings.Builder{}, broken: map[string]bool{}}
}

// maxOpen bounds how many tests are followed at the same time.
const maxOpen = 2000

func (g *goTest) line(line string) {
	if !strings.Contains(line, `"Action"`) {
		return
	}
	var e struct {
		Action, Package, ImportPath, Test string
		Elapsed                           float64
		Output                            string
	}
	if json.Unmarshal([]byte(line), &e) != nil {
		return
	}
	key := e.Package + "\x00" + e.Test
	switch e.Action {
	case "output":
		g.printed(key, e.Output)
	case "build-output":
		g.printed(e.ImportPath+"\x00", e.Output)
	case "build-fail":
		g.unbuilt(e.ImportPath)
	case "pass", "fail", "skip":
		defer delete(g.output, key)
		if e.Test == "" {
			g.to.seen = true
			if e.Action == "fail" && !g.broken[e.Package] { // it did not build, or died outside of a test
				g.to.fail(e.Package)
				g.tell(key, "")
			}
			return
		}
		t := testResult{Name: e.Package + "." + e.Test, State: e.Action, Millis: e.Elapsed * 1000}
		if e.Package == "" {
			t.Name = e.Test
		}
		if e.Action == "fail" {
			g.broken[e.Package] = true
			if b := g.output[key]; b != nil {
				t.Output = b.String()
				t.why = whyGo(t.Output)
			}
			g.tell(key, "--- FAIL: "+t.Name+"\n")
		}
		g.to.add(t)
	}
}

// unbuilt takes a package that did not compile: as its tests, "m/a [m/a.test]", or alone.
func (g *goTest) unbuilt(path string) {
	name, _, _ := strings.Cut(path, " ")
	if g.broken[name] {
		return
	}
	key, why := path+"\x00", ""
	if b := g.output[key]; b != nil {
		for line := range strings.Lines(b.String()) {
			if why == "" && !strings.HasPrefix(line, "# ") {
				why = strings.TrimSpace(line)
			}
		}
	}
	g.to.seen, g.broken[name] = true, true
	g.to.broke(g.to.plain(name), g.to.plain(why))
	g.tell(key, "")
	delete(g.output, key)
}

// printed keeps what a test or a package printed.
func (g *goTest) printed(key, output string) {
	if frame(output) {
		return
	}
	b := g.output[key]
	if b == nil {
		if len(g.output) >= maxOpen {
			return
		}
		b = &strings.Builder{}
		g.output[key] = b
	}
	if b.Len() < testOutput {
		b.WriteString(text.Head(output, testOutput))
	}
}

// tell adds what was printed to what people are told.
func (g *goTest) tell(key, title string) {
	if b := g.output[key]; b != nil {
		title += b.String()
	}
	g.to.note(title)
}

// end takes what did not end: the program died in the middle of it.
func (g *goTest) end() {
	for _, key := range slices.Sorted(maps.Keys(g.output)) {
		if printed := g.output[key].String(); strings.Contains(printed, "panic:") {
			g.to.note(printed)
		}
	}
}

// frame reports whether a line only says that a test begins or ends.
func frame(line string) bool {
	t := strings.TrimLeft(line, " ")
	for _, p := range []string{"=== ", "--- PASS", "--- FAIL", "--- SKIP", "PASS\n", "ok  \t", "FAIL\n", "FAIL\t", "coverage:"} {
		if strings.HasPrefix(t, p) {
			return p != "FAIL\t" || strings.Contains(line, "[build failed]")
		}
	}
	return false
}
