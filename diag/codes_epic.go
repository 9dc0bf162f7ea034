package diag

// epicCodes declares the codes about epic.json and the command line (owner: ir, cmd/ralph).
var epicCodes = []Entry{}
