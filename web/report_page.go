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
	"strings"
	"sync"
	"time"

	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/text"
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
	Tally        string // of the sprints
	Over         string // how the budget was passed, if nothing else says it
	Style        template.CSS
	Epic         Epic
	Result       Result
	Omitted      []string
}

// Bounds of a title or reason in the table, in characters.
const (
	mostCell       = 300
	manyRows       = 2000
	mostCellOfMany = 60
)

// signs show a status without colour.
var signs = map[string]string{
	"done": "✔", "running": "▶", "waiting": "?", "blocked": "■", "skipped": "↷", "cancelled": "✕", "ready": "○", "pending": "·",
}

var reportPage = sync.OnceValues(func() (*template.Template, error) {
	return template.New("report").Funcs(template.FuncMap{"sign": func(status string) string { return signs[status] }, "also": also}).Parse(reportHTML)
})

// also is a text, unless another one says it.
func also(what, said string) string {
	if strings.Contains(said, what) {
		return ""
	}
	return what
}

// frame is how many bytes a report takes without its parts.
func (f *frozen) frame() (int, error) {
	var err error
	if f.data, err = f.dataOf(); err != nil {
		return 0, err
	}
	b, err := f.bind()
	list := 1 << 10 // of what is left out
	for _, n := range f.live.rec.Epic.Nodes {
		list += 2*len(n.Key) + 24 // and the list of parts
	}
	return len(b) + list, err
}

// dataOf is what the template shows.
func (f *frozen) dataOf() (*reportData, error) {
	d := &reportData{
		Made: f.live.rec.Now.UTC().Format(time.DateTime) + " UTC", Tally: words.TallyOf(f.live.rec.Run), Style: template.CSS(reportStyle),
		Policy: fmt.Sprintf("default-src 'none'; script-src '%s'; style-src '%s'; img-src data:; base-uri 'none'; form-action 'none'", digest(reportScript), digest(reportStyle)),
	}
	if o := f.live.rec.Run.Overview(); o.Held.For != executor.ForBudget {
		d.Over = o.Over
	}
	if err := json.Unmarshal(f.frozenJSON(f.live.epic()), &d.Epic); err != nil {
		return nil, err
	}
	most := mostCell
	if len(d.Epic.Sprints) > manyRows {
		most = mostCellOfMany
	}
	for i := range d.Epic.Sprints {
		s := &d.Epic.Sprints[i]
		s.Title, s.Reason = text.Clip(s.Title, most), text.Clip(s.Reason, most)
	}
	return d, nil
}

// bind puts the report together.
func (f *frozen) bind() ([]byte, error) {
	t, err := reportPage()
	if err != nil {
		return nil, err
	}
	f.data.Omitted, f.data.Result = f.omitted, Result{}
	if f.result != nil && f.result[0] != '!' {
		if err := json.Unmarshal(f.result, &f.data.Result); err != nil {
			return nil, err
		}
	}
	var b bytes.Buffer
	if err := t.Execute(&b, f.data); err != nil {
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
