// Command imports prints a line; it imports the packages of other modules that ralph
// imports, so what their initialisation costs is in it: the floor of `ralph --version`.
package main

import (
	"fmt"

	_ "github.com/agext/levenshtein"
	_ "github.com/bmatcuk/doublestar/v4"
	_ "github.com/coder/acp-go-sdk"
	_ "github.com/fatih/color"
	_ "github.com/gofrs/flock"
	_ "github.com/google/jsonschema-go/jsonschema"
	_ "github.com/hashicorp/go-version"
	_ "github.com/hashicorp/hcl/v2"
	_ "github.com/hashicorp/hcl/v2/ext/typeexpr"
	_ "github.com/hashicorp/hcl/v2/hclsyntax"
	_ "github.com/hashicorp/hcl/v2/hclwrite"
	_ "github.com/hashicorp/hcl/v2/json"
	_ "github.com/mattn/go-isatty"
	_ "github.com/mattn/go-runewidth"
	_ "github.com/modelcontextprotocol/go-sdk/mcp"
	_ "github.com/natefinch/atomic"
	_ "github.com/owenrumney/go-sarif/v3/pkg/report"
	_ "github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	_ "github.com/rogpeppe/go-internal/diff"
	_ "github.com/santhosh-tekuri/jsonschema/v6"
	_ "github.com/spf13/cobra"
	_ "github.com/yuin/goldmark/ast"
	_ "github.com/yuin/goldmark/parser"
	_ "github.com/yuin/goldmark/text"
	_ "github.com/yuin/goldmark/util"
	_ "github.com/zclconf/go-cty/cty"
	_ "github.com/zclconf/go-cty/cty/convert"
	_ "github.com/zclconf/go-cty/cty/function"
	_ "github.com/zclconf/go-cty/cty/function/stdlib"
	_ "github.com/zclconf/go-cty/cty/json"
	_ "go.yaml.in/yaml/v3"
	_ "golang.org/x/sys/unix"
	_ "golang.org/x/term"
	_ "golang.org/x/text/language"
	_ "golang.org/x/text/message"
	_ "golang.org/x/text/unicode/norm"
	_ "mvdan.cc/sh/v3/syntax"
	_ "zombiezen.com/go/sqlite"
	_ "zombiezen.com/go/sqlite/sqlitex"
)

func main() { fmt.Println("ralph") }
