package diag

// graphCodes declares the codes about the compiled graph: agents, gates, git, rules (owner: compiler).
var graphCodes = []Entry{}
