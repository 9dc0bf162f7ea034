// Package words formats the machine's values for people: statuses, causes, ways out,
// costs, times, events, and the commands to type.
//
// In: values of executor. Out: text without colours. It does no I/O and knows no project.
// All rooms of app import it.
package words
