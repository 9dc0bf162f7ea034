// Package local drives an machine.Run in this process: it asks the machine what
// to do, records it, does it, and records what came of it.
//
// In: a Run that has replayed its journal, and the journal, workspace, runners
// and gates to use. Out: events, in the journal and to one observer. It imports
// executor and ir; app wires and calls it.
//
// A round: read the inbox, ask the machine, append everything in one transaction,
// then start, stop and answer. A gate gets a directory that holds exactly its
// commit, which is put back afterwards; what it did to it counts by its kind.
//
// One goroutine owns the Run and the journal. Each effect has a goroutine of its
// own that sends one report; all have ended when Apply returns.
package local
