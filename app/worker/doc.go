// Package worker takes issues from a tracker, one after another, and runs each as an epic
// of one node.
//
// In: a project, its beads, and Args. Out: claims, runs (each an apply of its own), and
// lines to a Listener. app/cli imports it.
package worker
