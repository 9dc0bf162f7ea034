//go:build !unix

package regular

// noFollow is not known here: openOwn looks at the path before it opens it.
const noFollow = 0
