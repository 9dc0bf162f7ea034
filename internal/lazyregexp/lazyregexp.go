// Package lazyregexp has regular expressions that are compiled when they are first
// used: no command pays at its start for those of all the others. In tests they are
// compiled at once, so that none is wrong unnoticed.
//
// Every room may import it; it imports the standard library.
package lazyregexp

import (
	"os"
	"regexp"
	"strings"
	"sync"
)

// Regexp is a regular expression that is compiled at its first use. Safe for
// concurrent use. Its methods are those of [regexp.Regexp].
type Regexp struct {
	source string
	once   sync.Once
	re     *regexp.Regexp
}

// inTest is true in a test's program. Package testing would bring its flags.
var inTest = len(os.Args) > 0 && strings.HasSuffix(strings.TrimSuffix(os.Args[0], ".exe"), ".test")

// New returns an expression that source, which must be valid, is compiled to.
func New(source string) *Regexp {
	r := &Regexp{source: source}
	if inTest {
		r.get()
	}
	return r
}

// get returns the compiled expression.
func (r *Regexp) get() *regexp.Regexp {
	r.once.Do(func() { r.re = regexp.MustCompile(r.source) })
	return r.re
}

func (r *Regexp) FindAllString(s string, n int) []string { return r.get().FindAllString(s, n) }

func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.get().FindAllStringSubmatch(s, n)
}

func (r *Regexp) FindString(s string) string { return r.get().FindString(s) }

func (r *Regexp) FindStringIndex(s string) []int { return r.get().FindStringIndex(s) }

func (r *Regexp) FindStringSubmatch(s string) []string { return r.get().FindStringSubmatch(s) }

func (r *Regexp) FindStringSubmatchIndex(s string) []int { return r.get().FindStringSubmatchIndex(s) }

func (r *Regexp) Match(b []byte) bool { return r.get().Match(b) }

func (r *Regexp) MatchString(s string) bool { return r.get().MatchString(s) }

func (r *Regexp) ReplaceAll(src, repl []byte) []byte { return r.get().ReplaceAll(src, repl) }

func (r *Regexp) ReplaceAllString(src, repl string) string {
	return r.get().ReplaceAllString(src, repl)
}

func (r *Regexp) FindIndex(b []byte) []int { return r.get().FindIndex(b) }

func (r *Regexp) FindAllSubmatch(b []byte, n int) [][][]byte { return r.get().FindAllSubmatch(b, n) }

func (r *Regexp) FindAllSubmatchIndex(b []byte, n int) [][]int {
	return r.get().FindAllSubmatchIndex(b, n)
}

func (r *Regexp) Find(b []byte) []byte { return r.get().Find(b) }

func (r *Regexp) ReplaceAllStringFunc(s string, repl func(string) string) string {
	return r.get().ReplaceAllStringFunc(s, repl)
}
