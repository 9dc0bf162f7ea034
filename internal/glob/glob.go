// Package glob matches paths with forward slashes against patterns: "*" and "?"
// stay within a directory, "**" does not, "[a-z]" and "{a,b}" are alternatives,
// and a pattern that names a directory fits all below it. It is the only user of
// the glob library; policies, compiler and executor/workspace call it, so that a
// scope means the same when it is compiled and when it is held.
package glob

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// A pattern of this size with this many open ends is matched in no time; without
// the bounds, nested alternatives and ** could be made to backtrack for ever.
const maxBytes, maxStars, maxBraces = 512, 8, 8

// Check says what is wrong with a glob: "**", "*", "?", "[a-z]" and
// "{a,b}" are known, "/" separates. nil if nothing.
func Check(pattern string) error {
	switch {
	case pattern == "":
		return errors.New("the pattern is empty")
	case len(pattern) > maxBytes:
		return fmt.Errorf("the pattern has more than %d bytes", maxBytes)
	case strings.Count(pattern, "*") > 2*maxStars, strings.Count(pattern, "{") > maxBraces:
		return errors.New("the pattern has too many stars or braces")
	case !doublestar.ValidatePattern(pattern):
		return errors.New("the pattern cannot be read: a bracket or brace is not closed")
	}
	return nil
}

// Match reports whether a path with forward slashes fits a glob. A pattern
// that Check refuses fits only itself.
func Match(pattern, path string) bool {
	pattern = clean(pattern)
	return pattern != "" && pattern == path || Check(pattern) == nil &&
		(doublestar.MatchUnvalidated(pattern, path) || doublestar.MatchUnvalidated(pattern+"/**", path))
}

// MatchAny reports whether a path fits one of the patterns.
func MatchAny(patterns []string, path string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return Match(p, path) })
}

// clean drops what is only spelling: "./cmd/" is "cmd".
func clean(pattern string) string { return strings.TrimSuffix(strings.TrimPrefix(pattern, "./"), "/") }

var errTooMany = errors.New("too many names")

// Files returns the files below fsys that fit, sorted, at most limit. Directories
// behind symbolic links are not entered, .git is left out.
func Files(fsys fs.FS, pattern string, limit int) ([]string, error) {
	pattern = strings.TrimPrefix(pattern, "./")
	if err := Check(pattern); err != nil {
		return nil, err
	}
	base, _ := doublestar.SplitPattern(pattern)
	var names []string
	visited := 0
	err := fs.WalkDir(fsys, base, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			if name == base && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			return fs.SkipDir // not there or not readable: nothing fits below it
		}
		if visited++; visited > 20*limit {
			return errTooMany
		}
		if strings.EqualFold(e.Name(), ".git") {
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if e.IsDir() {
			return nil
		}
		if doublestar.MatchUnvalidated(pattern, name) {
			if names = append(names, name); len(names) > limit {
				return errTooMany
			}
		}
		return nil
	})
	if errors.Is(err, errTooMany) {
		return nil, fmt.Errorf("the pattern fits more than %d files", limit)
	}
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	return names, nil
}
