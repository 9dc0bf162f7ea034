package ralph_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	linkInDocs = regexp.MustCompile(`\]\(([^)#:\s]*)(?:#([^)\s]+))?\)`)
	inCode     = regexp.MustCompile("`[^`]*`")
	noAnchor   = regexp.MustCompile(`[^\p{L}\p{N}_\- ]`)
)

// outsideOfCode are the lines of a document that are not in a fenced block.
func outsideOfCode(t *testing.T, name string) []string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	fenced := false
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		} else if !fenced {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return out
}

// anchorsOf are the names of a document's headings, as forges make them.
func anchorsOf(t *testing.T, name string) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, line := range outsideOfCode(t, name) {
		if mark, title, ok := strings.Cut(line, " "); ok && strings.Trim(mark, "#") == "" && mark != "" {
			at := strings.ReplaceAll(noAnchor.ReplaceAllString(strings.ToLower(title), ""), " ", "-")
			for i, base := 1, at; out[at]; i++ {
				at = fmt.Sprintf("%s-%d", base, i)
			}
			out[at] = true
		}
	}
	return out
}

func TestLinksOfTheDocsLeadSomewhere(t *testing.T) {
	docs := []string{"README.md", "CONTRIBUTING.md"}
	err := filepath.WalkDir("docs", func(name string, _ fs.DirEntry, err error) error {
		if path.Ext(name) == ".md" {
			docs = append(docs, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	anchors := map[string]map[string]bool{}
	links := 0
	for _, doc := range docs {
		for _, line := range outsideOfCode(t, doc) {
			for _, m := range linkInDocs.FindAllStringSubmatch(inCode.ReplaceAllString(line, ""), -1) {
				links++
				to := doc
				if m[1] != "" {
					to = filepath.Join(filepath.Dir(doc), filepath.FromSlash(m[1]))
				}
				if _, err := os.Stat(to); err != nil {
					t.Errorf("%s links to %s, which is not there", doc, m[1])
					continue
				}
				if m[2] == "" {
					continue
				}
				if anchors[to] == nil {
					anchors[to] = anchorsOf(t, to)
				}
				if !anchors[to][m[2]] {
					t.Errorf("%s links to #%s of %s, which has no such heading", doc, m[2], to)
				}
			}
		}
	}
	if links < 100 {
		t.Errorf("only %d links were found", links)
	}
}
