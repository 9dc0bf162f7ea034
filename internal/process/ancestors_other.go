//go:build !unix

package process

// Ancestors returns nothing: processes cannot be inspected on this system.
func Ancestors() []int { return nil }

// AncestorsOf returns nothing.
func AncestorsOf(int) []int { return nil }

// Namespace is "": this system has no pid namespaces.
func Namespace() string { return "" }

// Blind is "": no agent runs on this system.
func Blind(string) string { return "" }

// MarkedAncestor returns 0: processes cannot be inspected on this system.
func MarkedAncestor(...string) int { return 0 }

// MarkedAncestorOf returns 0.
func MarkedAncestorOf(int, ...string) int { return 0 }
