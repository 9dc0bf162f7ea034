//go:build !unix

package process

// Ancestors returns nothing: processes cannot be looked at here.
func Ancestors() []int { return nil }

// MarkedAncestor returns 0: processes cannot be looked at here.
func MarkedAncestor(...string) int { return 0 }
