// Package words says what the machine knows in words for people: statuses, causes, ways
// out, costs, times, events, and the commands that somebody is to type.
//
// In: values of executor. Out: text without colours. It does no I/O and knows no project.
// All rooms of app import it.
package words
