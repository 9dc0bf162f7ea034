package policies

import (
	"bytes"
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/ralph-compiler/ralph/diag"
)

// MaxFileBytes bounds a policy file or fence.
const MaxFileBytes = 1 << 20

// MaxFences bounds the fences of policy in one section of a plan.
const MaxFences = 100

// Limits of what is read and evaluated. They are far above what a person writes
// and far below what hurts; docs/policy-language.md names them.
const (
	maxFiles      = 1000    // policy files
	maxDepth      = 64      // of brackets, blocks, templates
	maxOperators  = 500     // operators in one value
	maxReadBytes  = 1 << 20 // of a file that an expression reads
	maxGlobNames  = 10_000  // names that one glob may give
	maxValueCost  = 1 << 18 // steps, elements and characters (by eight) of one evaluation
	maxPlanCost   = 1 << 22 // … of a rule over the plan
	maxBlocks     = 1000    // … of one kind
	maxElements   = 1000    // … of a list or an object that an attribute holds
	maxKeywords   = 100     // of a dialect
	maxWords      = 150_000 // … and signs of all policy files of a plan
	maxExponent   = 4096    // binary exponent of a number
	maxNumberSize = 64      // characters of a number literal
)

// checkBounds refuses text that the parser could not read within the stack: the
// recursion of hcl's parser follows brackets, templates and operators, and a
// stack that overflows ends the process.
func checkBounds(src []byte, name string, start hcl.Pos, isJSON, template bool) (hcl.Range, string) {
	at := func(i int) hcl.Range {
		p := start
		p.Byte += i
		return hcl.Range{Filename: name, Start: p, End: p}
	}
	if len(src) > MaxFileBytes {
		return at(0), "has more than 1 MiB"
	}
	if isJSON {
		if i := jsonTooDeep(src); i >= 0 {
			return at(i), "is nested deeper than 64 levels"
		}
		return hcl.Range{}, ""
	}
	if len(src) < maxDepth { // too short for any of it
		return hcl.Range{}, ""
	}
	lex := hclsyntax.LexConfig
	if template {
		lex = hclsyntax.LexTemplate
	}
	tokens, _ := lex(src, name, start)
	depth, operators := 0, 0
	for _, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen, hclsyntax.TokenOQuote,
			hclsyntax.TokenOHeredoc, hclsyntax.TokenTemplateInterp:
			depth++
		case hclsyntax.TokenTemplateControl:
			depth++
			operators++
		case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenCQuote,
			hclsyntax.TokenCHeredoc, hclsyntax.TokenTemplateSeqEnd:
			depth = max(depth-1, 0)
		case hclsyntax.TokenEqual, hclsyntax.TokenComma:
			operators = 0
		case hclsyntax.TokenNumberLit:
			if len(t.Bytes) > maxNumberSize {
				return t.Range, "holds a number of more than 64 characters"
			}
			if i := bytes.IndexAny(t.Bytes, "eE"); i >= 0 && len(bytes.TrimLeft(t.Bytes[i+1:], "+-0")) > 3 {
				return t.Range, "holds a number with an exponent beyond 999"
			}
		case hclsyntax.TokenBang, hclsyntax.TokenMinus, hclsyntax.TokenPlus, hclsyntax.TokenStar, hclsyntax.TokenSlash,
			hclsyntax.TokenPercent, hclsyntax.TokenAnd, hclsyntax.TokenOr, hclsyntax.TokenQuestion, hclsyntax.TokenEqualOp,
			hclsyntax.TokenNotEqual, hclsyntax.TokenLessThan, hclsyntax.TokenLessThanEq, hclsyntax.TokenGreaterThan,
			hclsyntax.TokenGreaterThanEq, hclsyntax.TokenDot:
			operators++
		}
		if depth > maxDepth {
			return t.Range, "is nested deeper than 64 levels"
		}
		if operators > maxOperators {
			return t.Range, "has more than 500 operators in one value"
		}
	}
	return hcl.Range{}, ""
}

// read counts the words and signs of a policy text, before it is read: a token costs
// hundreds of bytes. It returns the offset at which there are too many, or -1.
func (m *Meter) read(src []byte) int {
	word := false
	for i, c := range src {
		was := word
		word = c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80
		if word && was || c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '#' && i > 0 && src[i-1] == '#' {
			continue
		}
		if m.words++; m.words > maxWords {
			return i
		}
	}
	return -1
}

func tooManyWords(r diag.Range) diag.Diagnostic {
	return tooLarge(r, fmt.Sprintf("has, with the texts before it, more than %d words and signs", maxWords))
}

// jsonTooDeep returns the offset at which brackets are too deep, or -1.
func jsonTooDeep(src []byte) int {
	depth, inString := 0, false
	for i := 0; i < len(src); i++ {
		c := src[i]
		switch {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '[' || c == '{':
			if depth++; depth > maxDepth {
				return i
			}
		case c == ']' || c == '}':
			depth--
		}
	}
	return -1
}

func tooLarge(r diag.Range, what string) diag.Diagnostic {
	return diag.New("policy-too-large", r, "policy text exceeds a limit").
		WithDetail("The text %s. No handwritten policy comes near; split it, or move data into a file that jsonfile() reads.", what)
}
