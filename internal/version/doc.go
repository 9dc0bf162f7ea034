// Package version is the version of this build of ralph. It imports no other package of
// ralph.
package version
