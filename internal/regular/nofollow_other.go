//go:build !unix

package regular

// noFollow is not known here: the path is looked at before it is opened.
const noFollow = 0
