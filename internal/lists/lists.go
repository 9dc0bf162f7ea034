// Package lists makes lists, sets and indices of lists: what a loop would say in five
// lines and a name says in one.
//
// It imports only the standard library, so that every package may import it.
package lists

import (
	"iter"
	"maps"
	"slices"
)

// Each yields each element of a list where it is, with its index.
func Each[A any](list []A) iter.Seq2[int, *A] {
	return func(yield func(int, *A) bool) {
		for i := range list {
			if !yield(i, &list[i]) {
				return
			}
		}
	}
}

// Map returns what f makes of each element, in their order; an empty list of none.
func Map[A, B any](list []A, f func(A) B) []B {
	out := make([]B, len(list))
	for i, x := range list {
		out[i] = f(x)
	}
	return out
}

// Keep returns the elements for which keep holds; nil if there are none.
func Keep[A any](list []A, keep func(A) bool) []A {
	var out []A
	for _, x := range list {
		if keep(x) {
			out = append(out, x)
		}
	}
	return out
}

// Find returns the first element for which is holds; nil if there is none.
func Find[A any](list []A, is func(*A) bool) *A {
	for i := range list {
		if is(&list[i]) {
			return &list[i]
		}
	}
	return nil
}

// Count says of how many elements is holds.
func Count[A any](list []A, is func(*A) bool) (n int) {
	for i := range list {
		if is(&list[i]) {
			n++
		}
	}
	return n
}

// Include returns list with those of more at its end that it does not hold yet.
func Include[A comparable](list []A, more ...A) []A {
	for _, x := range more {
		if !slices.Contains(list, x) {
			list = append(list, x)
		}
	}
	return list
}

// Set holds each element of a list.
func Set[K comparable](list []K) map[K]bool { return SetOf(list, func(k *K) K { return *k }) }

// SetOf holds the key of each element of a list.
func SetOf[T any, K comparable](list []T, key func(*T) K) map[K]bool {
	out := make(map[K]bool, len(list))
	for i := range list {
		out[key(&list[i])] = true
	}
	return out
}

// Index says where in a list the element with a key is: the last of several.
func Index[T any, K comparable](list []T, key func(*T) K) map[K]int {
	out := make(map[K]int, len(list))
	for i := range list {
		out[key(&list[i])] = i
	}
	return out
}

// Table holds the entry of each element: that of the last of several with one key.
func Table[A any, K comparable, V any](list []A, entry func(A) (K, V)) map[K]V {
	out := make(map[K]V, len(list))
	for _, x := range list {
		k, v := entry(x)
		out[k] = v
	}
	return out
}

// Pointers says where in a list the element with a key is: the last of several.
func Pointers[A any, K comparable](list []A, key func(*A) K) map[K]*A {
	out := make(map[K]*A, len(list))
	for i := range list {
		out[key(&list[i])] = &list[i]
	}
	return out
}

// Merged holds the entries of all maps: that of the last of several with one key.
func Merged[K comparable, V any](all ...map[K]V) map[K]V {
	out := map[K]V{}
	for _, m := range all {
		maps.Copy(out, m)
	}
	return out
}

// Refs yields a pointer to each element, in their order, so that a loop need not copy
// them and may change them.
func Refs[A any](list []A) func(yield func(*A) bool) {
	return func(yield func(*A) bool) {
		for i := range list {
			if !yield(&list[i]) {
				return
			}
		}
	}
}
