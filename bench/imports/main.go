// Command imports prints a line; it imports the modules that ralph imports, so
// what their initialisation costs is in it: the floor of `ralph --version`.
package main

import (
	"fmt"

	_ "github.com/agext/levenshtein"
	_ "github.com/bmatcuk/doublestar/v4"
	_ "github.com/dominikbraun/graph"
	_ "github.com/fatih/color"
	_ "github.com/gofrs/flock"
	_ "github.com/hashicorp/go-version"
	_ "github.com/hashicorp/hcl/v2"
	_ "github.com/hashicorp/hcl/v2/hclwrite"
	_ "github.com/hashicorp/hcl/v2/json"
	_ "github.com/mattn/go-runewidth"
	_ "github.com/natefinch/atomic"
	_ "github.com/owenrumney/go-sarif/v3/pkg/report"
	_ "github.com/santhosh-tekuri/jsonschema/v6"
	_ "github.com/spf13/cobra"
	_ "github.com/yuin/goldmark"
	_ "github.com/zclconf/go-cty/cty/function/stdlib"
	_ "go.yaml.in/yaml/v3"
	_ "golang.org/x/text/unicode/norm"
	_ "zombiezen.com/go/sqlite/sqlitex"
)

func main() { fmt.Println("ralph") }
