// Package web is the page of `ralph ui`: its server, and its built assets.
//
// In: directories of repositories. Out: an http.Handler on loopback. It reads what the
// commands read (app/record) and decides through the door that they use (app/run); it has
// no model of its own, holds no lock, and may be killed at any time. app/cli imports it.
//
// # Flow
//
//	journal ──follow──► live (one an epic: a record.Record that is kept up to date)
//	                      │ each change: one line for the streams, answers become stale
//	checkout, files ──lookOut──┘ what no event tells of, once a second at most
//	                      ▼
//	routes ──guard──► answer (made from the live record, kept until the next change) ──► JSON, ETag
//	POST ──guard──► run.Decide ──► journal or inbox ──follow──► every open page
//
// Under an epic's mutex no program is called and nothing long is read: a record is read anew
// beside it (list.go, live.go), and so is what slow.go, plan.go and bead.go keep. Tails wait for
// watch.go, which looks at an attempt's files once for all of them.
//
// The route table (routes.go) is the only list of what there is: the multiplexer, the
// OpenAPI document and, from that, the page's types are made from it.
//
// A report is the same page, frozen (report.go): the answers of the routes, packed into one
// HTML file with a second build of the page, which reads them there.
//
// # Names
//
// An epic is named in URLs by the first 8 hex digits of the SHA-256 of its git directory, a
// dot, and its id: two clones of a repository have epics of the same id.
//
// # Safety
//
// It listens on loopback only and answers only to its own Host. Every request for data
// carries a token, which is made at each start and stands in the fragment of the printed
// link; there is no cookie. See docs/ui.md.
package web
