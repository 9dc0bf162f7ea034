// Package bench measures ralph as whole processes against a floor in the same
// run, pair by pair, and reports the ratios: these machines are noisy, a time
// alone says little. `make bench` runs it; nothing imports it.
//
//   - floor: read a plan, parse it with goldmark, encode the result with
//     encoding/json, write it. No design of a plan compiler can avoid that.
//   - imports: a program that imports the modules that ralph imports and prints
//     a line; empty: one that imports nothing.
//
// The programs below this directory may import any library: they are measured
// against, not built upon.
package bench
