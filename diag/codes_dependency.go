package diag

// dependencyCodes declares the codes about dependencies between items (owner: compiler).
var dependencyCodes = []Entry{}
