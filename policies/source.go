package policies

import (
	"maps"
	"slices"
)

// source is a block that is evaluated again for each node.
type source struct{}

// scope is what expressions can refer to.
type scope struct{}

// keywordIndex finds complexity keywords in text.
type keywordIndex struct{}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
