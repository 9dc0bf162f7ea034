package diag

// planCodes declares the codes about the markdown of a plan: headings, labels, fences, front matter (owner: compiler/syntax).
var planCodes = []Entry{}
