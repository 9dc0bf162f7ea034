package bench

// What measurements outside this package use.
var (
	Programs = programs
	Size     = size
)
