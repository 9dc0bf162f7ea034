// Package local drives a machine.Run in this process: it asks the machine what
// to do, records it, has effects perform it, and records the result.
//
// In: a Run that has replayed its journal, the journal, and the tools of
// executor/effects. Out: events, in the journal and to one observer. It imports
// executor, executor/machine and executor/effects; app/run calls it.
//
// It is a machine.Driver: in each round it reads the inbox, appends what the machine
// decides in one transaction, then starts, stops and answers.
//
// One goroutine owns the Run and the journal. Each effect has its own goroutine,
// which sends one report; all have ended when Apply returns.
package local
