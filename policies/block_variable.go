package policies

// Variable is the block `variable "n"`.
type Variable struct {
	Decl
	Type        string // as written: "list(string)"; "" if any
	Description string
	Value       string // as used, as an HCL expression on one line
	From        string // default, flag
}
