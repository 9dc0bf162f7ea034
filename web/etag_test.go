//go:build unix

package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor/executortest"
)

// RFC 9110, 8.8.3: what is sent compressed and as it is has no strong ETag in common.
func TestAnETagNamesWhatIsSaid(t *testing.T) {
	t.Parallel()
	s := newSite(t, "echo x > work.txt\n", executortest.Epic(strings.Fields("1.1 1.2 1.3 1.4 1.5 1.6 1.7 1.8 1.9 2.1 2.2 2.3 2.4 2.5 2.6")))
	for _, path := range []string{"/EPIC", "/../../index.html"} {
		_, _, plain := s.text(path, "Accept-Encoding", "identity")
		_, _, zipped := s.text(path, "Accept-Encoding", "gzip")
		etag := plain.Get("ETag")
		if zipped.Get("Content-Encoding") != "gzip" && path == "/EPIC" {
			t.Fatalf("%s is not compressed: %v", path, zipped)
		}
		if !strings.HasPrefix(etag, "W/") || zipped.Get("ETag") != etag {
			t.Errorf("%s: %q, and compressed %q", path, etag, zipped.Get("ETag"))
		}
		strong := strings.TrimPrefix(etag, "W/")
		for _, given := range []string{etag, strong, fmt.Sprintf(`"other", %s`, etag), "*"} {
			if status, _, _ := s.text(path, "If-None-Match", given); status != http.StatusNotModified {
				t.Errorf("%s with %s: %d", path, given, status)
			}
		}
		if status, _, _ := s.text(path, "If-None-Match", `W/"other"`); status != http.StatusOK {
			t.Errorf("%s with another one: %d", path, status)
		}
	}
}
