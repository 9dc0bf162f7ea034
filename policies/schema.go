package policies

import (
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/ralph-compiler/ralph/internal/lists"
)

// kind says what an attribute's value is, and how it is converted.
type kind uint8

const (
	kString   kind = iota // text
	kBool                 // true, false
	kInt                  // whole number
	kFloat                // number
	kStrings              // list of text; a single text is a list of one
	kKeywords             // the same, of a dialect
	kInts                 // list of whole numbers; a single one is a list of one
	kArgv                 // list of text; a single text is run by sh -c
	kMap                  // object of text
	kIntMap               // object of whole numbers
	kDuration             // "20m" → milliseconds
	kUSD                  // 2.50 → millionths
	kSize                 // "10GB" → bytes
	kPercent              // 0.2 or "20%" → 20
	kEnum                 // one of enum
	kEnums                // list of enum words
	kRef                  // name of a block of type ref
	kRefs                 // list of names of blocks of type ref
	kSchema               // JSON Schema: an object, or text that holds JSON
	kApproval             // true, a list of people, or "required from @a within 48h"
	kRegex                // RE2 pattern
	kGlobs                // list of globs
	kPath                 // path inside the project
	kAny                  // any expression, evaluated later
)

// attr declares an attribute of a block.
type attr struct {
	name     string
	kind     kind
	enum     []string // of kEnum, kEnums
	ref      string   // block type that kRef, kRefs name
	also     string   // another one that kRef may name; see refOf
	required bool
	run      bool  // may hold ${run.…}
	shell    bool  // a shell reads it: it takes no free text of a plan
	min, max int64 // of kInt, kFloat, kInts, kDuration (ms); max 0: no bound
	doc      string
}

// block declares a block type: its labels, attributes and nested blocks. From
// these tables come decoding, suggestions and the JSON Schema.
type block struct {
	name   string
	label  string // what its one label is; "" for none
	attrs  []attr
	blocks []*block
	many   bool // may occur more than once (with a label: with the same label)
	node   bool // node.* is known inside
	of     any  // nil pointer to the type whose tags say the rest; see complete
	doc    string
}

func (b *block) attr(name string) *attr {
	return lists.Find(b.attrs, func(a *attr) bool { return a.name == name })
}

func (b *block) block(name string) *block {
	for _, n := range b.blocks {
		if n.name == name {
			return n
		}
	}
	return nil
}

func (b *block) attrNames() []string {
	return lists.Map(b.attrs, func(a attr) string { return a.name })
}

func (b *block) blockNames() []string {
	return lists.Map(b.blocks, func(n *block) string { return n.name })
}

// body returns the schema as hcl wants it. Required attributes are checked by
// the reader, which can say it better.
func (b *block) body() *hcl.BodySchema {
	s := &hcl.BodySchema{
		Attributes: make([]hcl.AttributeSchema, len(b.attrs)),
		Blocks:     make([]hcl.BlockHeaderSchema, len(b.blocks)),
	}
	for i, a := range b.attrs {
		s.Attributes[i].Name = a.name
	}
	for i, n := range b.blocks {
		s.Blocks[i].Type = n.name
		if n.label != "" {
			s.Blocks[i].LabelNames = []string{n.label}
		}
	}
	return s
}

// fileBlock is the root of a policy file.
var fileBlock = &block{
	name: "policy file",
	blocks: []*block{
		ralphBlock, variableBlock, localsBlock, runnerBlock, secretBlock, modelBlock, agentBlock, gateBlock,
		policyBlock, complexityBlock, budgetBlock, hitlBlock, sandboxBlock, gitBlock, worktreeBlock,
		integrationBlock, concurrencyBlock, ruleBlock, waiveBlock, trackerBlock, dialectBlock, notifyBlock,
		retryBlock, stallBlock, limitsBlock, draftBlock,
	},
}

// refTypes are the block types that expressions can name: runner.claude.
var refTypes = []string{"agent", "complexity", "dialect", "gate", "model", "policy", "rule", "runner", "sandbox", "secret"}

// rootNames are the first words that an expression may begin with.
var rootNames = append(slices.Clone(refTypes), "local", "node", "run", "var")

var descriptionAttr = attr{name: "description", kind: kString, doc: "for people; ralph does not use it"}
