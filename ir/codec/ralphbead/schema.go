package ralphbead

import _ "embed"

//go:embed schema/ralph-bead.schema.json
var schema []byte

// Schema returns the published JSON Schema (draft-07) of a bead. Decode accepts
// a little more (other spellings of keys, null for what is optional) and refuses
// what fits the schema but can never be done: a list of verifiers that is empty.
func Schema() []byte { return append([]byte(nil), schema...) }
