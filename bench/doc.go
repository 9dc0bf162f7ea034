// Package bench measures ralph against a floor or a peer in the same run, pair by
// pair, and reports the ratios: machines are noisy, a time alone says little.
// `make bench` runs it; nothing imports it.
//
// Compile, graph, diff and version are measured as whole processes. Their floors:
//
//   - floor: read a plan, parse it with goldmark, encode the result with
//     encoding/json, write it. No design of a plan compiler can avoid that.
//   - imports: a program that imports the modules that ralph imports and prints
//     a line; empty: one that imports nothing.
//
// Apply is measured in this process, with the real driver and a journal on the
// disk, a made-up workspace and made-up agents; its peer is ninja (Debian:
// ninja-build) on the same graph with as many jobs. What starting a process and
// what the directories of attempts add is reported apart. Without ninja there is
// no ratio, and the run says so aloud. What real git costs is measured in
// executor/workspace against a script, what output costs in executor/runner.
//
// The page of `ralph ui` is measured as a server with a thousand listeners, and its graph in
// headless Chromium, which make web-e2e prepares; without it the run says so aloud.
//
// A process's peak memory is its own: Linux counts what its parent had before exec, so
// command measure, which is small, starts what is measured (some 3 MB are its own).
//
// `make bench-check` runs each benchmark once, with a tenth of the nodes, so that none
// rots, and holds what is a count to within 5% of counts.txt.
//
// The programs below this directory may import any library: they are measured
// against, not built upon.
package bench
