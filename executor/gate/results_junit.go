package gate

import (
	"cmp"
	"encoding/xml"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/regular"
)

// junitPlaces are where test tools leave JUnit XML by default.
var junitPlaces = []string{
	"junit.xml", "junit-*.xml", "*-junit.xml", "report.xml", "test-report.xml", "test-results.xml", "TEST-*.xml",
	"test-results/*.xml", "test-reports/*.xml", "reports/*.xml", "test-results/*/*.xml",
	"build/test-results/*/*.xml", "*/build/test-results/*/*.xml", "target/surefire-reports/*.xml", "target/failsafe-reports/*.xml",
	"*/target/surefire-reports/*.xml", "target/nextest/*/junit.xml",
}

// namedXML finds paths of XML files in what a tool printed.
var namedXML = lazyregexp.New(`[^\s"'<>|:=(),]+\.xml\b`)

// Bounds of what is read of JUnit XML.
const (
	maxJUnit      = 32 << 20 // bytes of a file
	maxJUnitFiles = 200
)

// readJUnit reads the reports in dir that were written since begun. Nothing
// outside of dir is opened, whatever links there are.
func (s *results) readJUnit(dir string, begun time.Time, outputs []string) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	defer root.Close()
	var paths []string
	for _, p := range junitPlaces {
		found, _ := fs.Glob(regular.FS(root), p) // the patterns are well formed
		paths = append(paths, found...)
	}
	for _, out := range outputs {
		text, _ := process.Tail(out, 64<<10) // what cannot be read names none
		for _, name := range namedXML.FindAllString(text, 100) {
			if filepath.IsAbs(name) {
				name, _ = filepath.Rel(dir, name) // dir is absolute, too
			}
			if name = filepath.Clean(name); filepath.IsLocal(name) {
				paths = append(paths, name)
			}
		}
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	since := begun.Add(-20 * time.Millisecond) // clocks of file systems go by ticks
	for _, p := range paths[:min(len(paths), maxJUnitFiles)] {
		st, err := root.Stat(p)
		if err != nil || st.Size() > maxJUnit || st.ModTime().Before(since) {
			continue
		}
		f, err := regular.OpenIn(root, p)
		if err != nil { // a directory, say
			continue
		}
		s.junit(io.LimitReader(f, maxJUnit))
		_ = f.Close() // it was only read
	}
}

// junitCase is a test as a report has it.
type junitCase struct {
	Name    string     `xml:"name,attr"`
	Class   string     `xml:"classname,attr"`
	Time    string     `xml:"time,attr"`
	Failure *junitSaid `xml:"failure"`
	Error   *junitSaid `xml:"error"`
	Skipped *junitSaid `xml:"skipped"`
}

type junitSaid struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

func (c junitCase) result() testResult {
	r := testResult{Name: strings.Trim(c.Class+"."+c.Name, "."), State: "pass"}
	if seconds, _ := strconv.ParseFloat(c.Time, 64); seconds > 0 && seconds < 1e9 { // 0 or infinite if it is none
		r.Millis = seconds * 1000
	}
	why := cmp.Or(c.Failure, c.Error)
	switch {
	case why != nil:
		r.State, r.Output = "fail", strings.TrimSpace(why.Text)
		if r.why = why.Message; strings.TrimSpace(r.why) == "" {
			r.why = r.Output
		}
		if !strings.Contains(r.Output, why.Message) {
			r.Output = strings.TrimSpace(why.Message + "\n" + r.Output)
		}
	case c.Skipped != nil:
		r.State = "skip"
	}
	return r
}

// junit reads one report. A document that is something else adds nothing.
func (s *results) junit(in io.Reader) {
	var found []testResult
	d := xml.NewDecoder(in)
	for first := true; ; {
		t, err := d.Token()
		if err != nil {
			break
		}
		e, ok := t.(xml.StartElement)
		if !ok {
			continue
		}
		if first && e.Name.Local != "testsuites" && e.Name.Local != "testsuite" {
			return
		}
		first = false
		if e.Name.Local != "testcase" {
			continue
		}
		var c junitCase
		if d.DecodeElement(&c, &e) != nil {
			break
		}
		found = append(found, c.result())
		if len(found) >= 20*maxTests {
			break
		}
	}
	for _, r := range found {
		if r = s.add(r); r.State == "fail" {
			s.note("FAILED " + r.Name + "\n" + r.Output + "\n")
		}
	}
}
