//go:build !unix

package process

// Ancestors returns nothing: processes cannot be looked at here.
func Ancestors() []int { return nil }

// Namespace is "": there are none.
func Namespace() string { return "" }

// Blind is "": no agent runs here.
func Blind(string) string { return "" }

// MarkedAncestor returns 0: processes cannot be looked at here.
func MarkedAncestor(...string) int { return 0 }
