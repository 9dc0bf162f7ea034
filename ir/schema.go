package ir

import _ "embed"

//go:generate go test -run TestSchemaFollowsTheTypes -update .

//go:embed schema/epic.schema.json
var epicSchema []byte

//go:embed schema/front-matter.schema.json
var frontMatterSchema []byte

// Schema returns the JSON Schema (2020-12) of epic.json. It is generated from
// the types of this package and what their comments say.
func Schema() []byte { return append([]byte(nil), epicSchema...) }

// FrontMatterSchema returns the JSON Schema (2020-12) of the YAML that may be
// at the head of a plan.
func FrontMatterSchema() []byte { return append([]byte(nil), frontMatterSchema...) }
