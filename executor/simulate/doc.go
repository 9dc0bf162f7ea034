// Package simulate walks an epic on a virtual clock with a made-up world: agents,
// gates, merges and people do what a scenario says, and two days pass in seconds.
//
// In: an ir.Epic and a Scenario. Out: the events that a run would write, passed to
// an observer, and the machine in its final state. Nothing is executed, no git is
// touched, no time passes. The same epic, scenario and seed give the same events.
// It imports executor, ir and internal/yaml; app calls it.
//
// The machine and the loop that drives it are the real ones: only their surroundings are made up. A simulation
// therefore shows what retries, limits, budgets, waits and the graph itself come
// to, not whether an agent can do its work.
package simulate
