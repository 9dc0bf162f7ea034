package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/internal/reveal"
)

var (
	//go:embed dist/report/report.js
	reportScript string
	//go:embed dist/report/report.css
	reportStyle string
	//go:embed dist/licenses.md
	licenses string
	//go:embed report.html
	reportHTML string
)

// reportData is what the template shows: without script, this is all.
type reportData struct {
	Policy, Made string
	Style        template.CSS
	Epic         Epic
	Result       Result
	Omitted      []string
}

// signs show a status without colour.
var signs = map[string]string{
	"done": "✔", "running": "▶", "waiting": "?", "blocked": "■", "skipped": "↷", "cancelled": "✕", "ready": "○", "pending": "·",
}

var reportPage = sync.OnceValues(func() (*template.Template, error) {
	return template.New("report").Funcs(template.FuncMap{"sign": func(status string) string { return signs[status] }, "also": also}).Parse(reportHTML)
})

// also is a text, unless another one says it.
func also(text, said string) string {
	if strings.Contains(said, text) {
		return ""
	}
	return text
}

// frame is how many bytes a report takes without its parts.
func (f *frozen) frame() (int, error) {
	b, err := f.bind()
	return len(b) + len(f.live.rec.Epic.Nodes)*24 + 1<<10, err // the list of parts, and of what is left out
}

// bind puts the report together.
func (f *frozen) bind() ([]byte, error) {
	t, err := reportPage()
	if err != nil {
		return nil, err
	}
	d := reportData{
		Made: f.live.rec.Now.Local().Format(time.DateTime), Omitted: f.omitted, Style: template.CSS(reportStyle),
		Policy: fmt.Sprintf("default-src 'none'; script-src '%s'; style-src '%s'; img-src data:; base-uri 'none'; form-action 'none'", digest(reportScript), digest(reportStyle)),
	}
	epic, err := f.live.epic()
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(f.clean(mustJSON(epic)), &d.Epic); err != nil {
		return nil, err
	}
	if f.result != nil {
		if err := json.Unmarshal(f.result, &d.Result); err != nil {
			return nil, err
		}
	}
	var b bytes.Buffer
	if err := t.Execute(&b, d); err != nil {
		return nil, err
	}
	page := bytes.NewBufferString(reveal.Words(b.String()))
	fmt.Fprintf(page, "<script type=\"application/json\" id=\"about\">%s</script>\n", f.about())
	for i, p := range f.parts {
		fmt.Fprintf(page, "<script type=\"text/plain\" id=\"part%d\">%s</script>\n", i, p)
	}
	fmt.Fprintf(page, "<script type=\"text/plain\" id=\"licenses\">\n%s</script>\n<script>%s</script>\n", strings.ReplaceAll(licenses, "</", "<\\/"), reportScript)
	return page.Bytes(), nil
}

// digest is the source of an inline script or style in a Content-Security-Policy.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// pack is a part as the page holds it: gzip, base64.
func pack(part []byte) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is one
	_, _ = z.Write(part)                                  // a buffer takes all
	_ = z.Close()
	return base64.StdEncoding.AppendEncode(nil, b.Bytes())
}

// shorter makes paths of this machine begin at the repository, or at ~.
func shorter(r record.Repository) func([]byte) []byte {
	type rule struct{ root, put string }
	var rules []rule
	add := func(root, put string) {
		for _, root := range []string{root, resolved(root)} {
			root = strings.Trim(string(mustJSON(root)), `"`) // as in JSON
			if len(root) > 1 && !slices.Contains(rules, rule{root, put}) {
				rules = append(rules, rule{root, put})
			}
		}
	}
	add(r.Git, ".git")
	add(r.Dir, ".")
	add(filepath.Dir(r.Dir), "..") // worktrees
	if home, err := os.UserHomeDir(); err == nil {
		add(home, "~")
	}
	add(os.TempDir(), "$TMPDIR")
	return func(b []byte) []byte {
		for _, x := range rules {
			b = cutRoot(b, x.root, x.put)
		}
		return b
	}
}

// resolved is a path without links, or itself.
func resolved(path string) string {
	if out, err := filepath.EvalSymlinks(path); err == nil {
		return out
	}
	return path
}

// cutRoot puts something else in the place of a directory's path, where that is all of a name.
func cutRoot(b []byte, root, put string) []byte {
	var out []byte
	for {
		i := bytes.Index(b, []byte(root))
		if i < 0 {
			return append(out, b...)
		}
		end := i + len(root)
		out = append(out, b[:i]...)
		if i > 0 && inName(b[i-1]) || end < len(b) && inName(b[end]) {
			out = append(out, root...)
		} else {
			out = append(out, put...)
		}
		b = b[end:]
	}
}

// inName reports whether a byte beside a path belongs to it.
func inName(c byte) bool {
	return c == '_' || c == '-' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}
