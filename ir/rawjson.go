package ir

import (
	"encoding/json"
	"slices"
	"strings"
)

// NormalizeJSON returns raw as compact JSON with sorted keys and its number
// literals unchanged: the form in which embedded JSON (schemas, foreign keys)
// is compared. Nothing is nothing. It fails, with a *DecodeError, on what is
// not exactly one JSON value, on a duplicate key, and below a depth of
// MaxDepth.
func NormalizeJSON(raw json.RawMessage) (json.RawMessage, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	doc, err := parseRaw(raw)
	if err != nil {
		return nil, err
	}
	return doc.compact(nil), nil
}

// rawDoc is embedded JSON: a literal (also [] and {}), an array or an object.
type rawDoc struct {
	literal string
	object  bool
	items   []rawItem // of an object, sorted by their keys
}

type rawItem struct {
	key string // in an object
	*rawDoc
}

// rawDocs parses embedded JSON, equal texts once: the gates of a plan mostly share
// one output schema. The zero value is ready; it lives as long as one call.
type rawDocs map[string]parsedRaw

const maxRawDocs = 256

type parsedRaw struct {
	doc *rawDoc
	err error
}

func (m *rawDocs) parse(src []byte) (*rawDoc, error) {
	if p, done := (*m)[string(src)]; done {
		return p.doc, p.err
	}
	doc, err := parseRaw(src)
	if *m == nil {
		*m = rawDocs{}
	}
	if len(*m) < maxRawDocs { // as many different ones: nothing is gained by keeping them
		(*m)[string(src)] = parsedRaw{doc, err}
	}
	return doc, err
}

func parseRaw(src []byte) (*rawDoc, error) {
	d := newDecoder(string(src))
	var doc *rawDoc
	d.run(func() { doc = d.rawDoc() })
	if len(d.errs) > 0 {
		return nil, d.errs[0]
	}
	return doc, nil
}

func (d *decoder) rawDoc() *rawDoc {
	d.space()
	switch c := d.peek(); c {
	case '{':
		doc := &rawDoc{object: true}
		seen := map[string]bool{}
		d.members(func(key string, at int) {
			if seen[key] {
				d.failAt(at, "the key %s appears twice", quote(key))
				d.skip()
				return
			}
			seen[key] = true
			doc.items = append(doc.items, rawItem{key, d.rawDoc()})
		})
		if len(doc.items) == 0 {
			return &rawDoc{literal: "{}"}
		}
		slices.SortFunc(doc.items, func(a, b rawItem) int { return strings.Compare(a.key, b.key) })
		return doc
	case '[':
		doc := &rawDoc{}
		d.elements(func(int) { doc.items = append(doc.items, rawItem{"", d.rawDoc()}) })
		if len(doc.items) == 0 {
			return &rawDoc{literal: "[]"}
		}
		return doc
	case '"':
		return &rawDoc{literal: string(appendString(nil, d.str()))}
	default:
		return &rawDoc{literal: d.scalar()}
	}
}

func (doc *rawDoc) compact(b []byte) []byte {
	if len(doc.items) == 0 {
		return append(b, doc.literal...)
	}
	open, end := byte('['), byte(']')
	if doc.object {
		open, end = '{', '}'
	}
	b = append(b, open)
	for i, item := range doc.items {
		if i > 0 {
			b = append(b, ',')
		}
		if doc.object {
			b = append(appendString(b, item.key), ':')
		}
		b = item.compact(b)
	}
	return append(b, end)
}
