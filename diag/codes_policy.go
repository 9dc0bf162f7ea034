package diag

// policyCodes declares the codes about the HCL policy (owner: policies).
var policyCodes = []Entry{}
