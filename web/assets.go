package web

import (
	"bytes"
	"compress/gzip"
	"embed"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
)

//go:embed all:dist
var dist embed.FS

// asset is a built file of the page.
type asset struct {
	body, zipped []byte
	kind, etag   string
}

// kinds are the types of assets: the system's own table may say anything.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".svg": "image/svg+xml", ".png": "image/png", ".md": "text/plain; charset=utf-8", ".json": "application/json",
}

// built are the assets by path, compressed once.
var built = sync.OnceValues(func() (map[string]asset, error) {
	out := map[string]asset{}
	err := fs.WalkDir(dist, "dist", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && name == "dist/report" {
				return fs.SkipDir // it is for reports
			}
			return err
		}
		body, err := dist.ReadFile(name)
		if err != nil {
			return err
		}
		a := asset{body: body, kind: kinds[path.Ext(name)], etag: etagOf(body)}
		var b bytes.Buffer
		z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is one
		if _, err := z.Write(body); err != nil {
			return err
		}
		if err := z.Close(); err != nil {
			return err
		}
		if b.Len() < len(body) {
			a.zipped = b.Bytes()
		}
		out["/"+strings.TrimPrefix(name, "dist/")] = a
		return nil
	})
	return out, err
})

// assets serves the page. It needs no token: it says nothing about anybody's repository.
func assets() http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			fail(w, http.StatusMethodNotAllowed, Fault{Error: "the page is only read", Reason: "unknown"})
			return
		}
		files, err := built()
		if err != nil {
			fail(w, http.StatusInternalServerError, Fault{Error: err.Error(), Reason: "broken"})
			return
		}
		name := r.URL.Path
		if name == "/" {
			name = "/index.html"
		}
		a, is := files[name]
		if !is || a.kind == "" {
			fail(w, http.StatusNotFound, Fault{Error: "there is no " + r.URL.Path + " here", Reason: "unknown"})
			return
		}
		h := w.Header()
		h.Set("Content-Type", a.kind)
		h.Set("ETag", a.etag)
		h.Set("Vary", "Accept-Encoding")
		h.Set("Cache-Control", "no-cache")
		if strings.HasPrefix(name, "/assets/") {
			h.Set("Cache-Control", "public, max-age=31536000, immutable") // its name holds its hash
		}
		if has(r, a.etag) {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		body := a.body
		if a.zipped != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			h.Set("Content-Encoding", "gzip")
			body = a.zipped
		}
		_, _ = w.Write(body) // who does not read it is gone
	}
}

// write sends a body, compressed if it is long and the client takes that.
func write(w http.ResponseWriter, r *http.Request, body []byte) {
	if len(body) < 2<<10 || !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		_, _ = w.Write(body) // who does not read it is gone
		return
	}
	w.Header().Set("Content-Encoding", "gzip")
	w.Header().Set("Vary", "Accept-Encoding")
	z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed) // the level is one
	_, _ = z.Write(body)
	_ = z.Close()
}
