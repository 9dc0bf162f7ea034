package policies

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
)

// texts are the files that blocks come from: for names in messages, and to keep
// ranges inside them.
type texts struct {
	texts   map[string][]byte
	offsets map[string]int // of the text in its file; 0 but for fences
	lengths map[string]int // of the file
}

func newTexts() texts {
	return texts{map[string][]byte{}, map[string]int{}, map[string]int{}}
}

// source is a block that is evaluated again for each node.
type source struct {
	block   *hcl.Block
	scope   *scope
	src     texts
	builtin bool
	where   string // origin of values: "" or the fence's scope
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
