// Package version says which ralph this is. It is a leaf.
package version
