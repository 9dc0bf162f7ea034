package text

import (
	"strconv"
	"strings"
)

// Count returns a number and its word: "1 item", "3 items", "2 dependencies".
func Count(n int, word string) string {
	if n != 1 {
		word = Plural(word)
	}
	return strconv.Itoa(n) + " " + word
}

// Counted is Count for words whose plural is not regular, or that more follows:
// "1 box has", "3 boxes have".
func Counted(n int, one, many string) string { return strconv.Itoa(n) + " " + Form(n, one, many) }

// Form returns one if n is 1, else many.
func Form(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Plural returns the regular plural of a word in lower case; "" stays "".
func Plural(word string) string {
	switch {
	case word == "":
		return word
	case len(word) > 1 && word[len(word)-1] == 'y' && strings.IndexByte("aeiou", word[len(word)-2]) < 0:
		return word[:len(word)-1] + "ies"
	case strings.HasSuffix(word, "s"), strings.HasSuffix(word, "x"), strings.HasSuffix(word, "ch"), strings.HasSuffix(word, "sh"):
		return word + "es"
	}
	return word + "s"
}

// And lists words as a sentence does: "a", "a and b", "a, b and c".
func And(words []string) string { return listed(words, " and ") }

// Or lists words of which one is meant: "a, b or c".
func Or(words []string) string { return listed(words, " or ") }

func listed(words []string, last string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + last + words[n-1]
	}
	return strings.Join(words, "")
}

// AndMore lists words of total, the others of which were left out: "a and b", or
// "a, b and 3 more".
func AndMore(words []string, total int) string {
	if more := total - len(words); more > 0 {
		return strings.Join(words, ", ") + " and " + strconv.Itoa(more) + " more"
	}
	return And(words)
}

// Some lists the first words, at most most of them, and says how many more there are:
// "a, b and 3 more".
func Some(words []string, most int) string {
	if more := len(words) - most; more > 0 {
		return strings.Join(words[:most], ", ") + " and " + strconv.Itoa(more) + " more"
	}
	return strings.Join(words, ", ")
}
