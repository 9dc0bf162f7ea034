package record

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"net/url"
	"path/filepath"

	"github.com/ralph-compiler/ralph/ir"
)

// PageRepository names a repository in the addresses of ralph ui, by its git directory: two
// clones have epics of the same id.
func PageRepository(git string) string {
	sum := sha256.Sum256([]byte(git))
	return hex.EncodeToString(sum[:4])
}

// PagePort is where ralph ui listens for a repository unless another program does.
func PagePort(git string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(git)) // never fails
	return 20000 + int(h.Sum32()%10000)
}

// PageLink is the page about a sprint, or about the epic (key ""), whose state is in a
// directory. Who opens it needs to have opened ralph ui's own link before: it has no token.
func PageLink(state string, epic ir.NodeID, key string) string {
	git := filepath.Dir(filepath.Dir(state))
	link := fmt.Sprintf("http://127.0.0.1:%d/#/e/%s.%s", PagePort(git), PageRepository(git), epic)
	if key != "" {
		link += "/n/" + url.PathEscape(key)
	}
	return link
}
