package policies

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclwrite"
)

// Format returns policy text in its canonical layout, as `ralph fmt` writes it.
// Only white space changes. Text beyond the limits of bounds.go is returned unchanged,
// as is the JSON form.
func Format(src []byte) []byte {
	if strings.HasPrefix(strings.TrimSpace(string(src)), "{") {
		return src
	}
	if _, why := checkBounds(src, "", hcl.InitialPos, false, false); why != "" {
		return src
	}
	return hclwrite.Format(src)
}

// Quote returns a text as a policy writes it: in quotes, escaped.
func Quote(s string) string { return hclString(s) }

// Reference names a block, such as runner.claude; as a quoted text if its name is no
// identifier.
func Reference(root, name string) string { return reference(root, name) }
