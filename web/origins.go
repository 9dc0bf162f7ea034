package web

import (
	"bytes"
	"compress/flate"
	"encoding/json"

	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/ir"
)

// origins are where the values of each sprint of a compiled plan come from, packed: of a large
// plan they are many times its size.
type origins struct {
	of   map[ir.Key][]byte // JSON, deflated
	none string            // why there are none
}

// originsOf asks a compiled plan for all of them.
func originsOf(c *compiled) (origins, error) {
	switch {
	case c.cannot != "":
		return origins{none: c.cannot}, nil
	case len(c.Results) != 1 || c.Results[0].Trace == nil:
		return origins{none: "the plan has errors: see there"}, nil
	}
	var b bytes.Buffer
	pack, err := flate.NewWriter(&b, flate.BestSpeed)
	if err != nil {
		return origins{}, err
	}
	trace := c.Results[0].Trace
	keys := trace.Keys()
	out := origins{of: make(map[ir.Key][]byte, len(keys))}
	for _, key := range keys {
		reasons, _ := trace.Why(key, "") // it has the key
		b.Reset()
		pack.Reset(&b)
		if err := json.NewEncoder(pack).Encode(c.Sources.Why(key, reasons)); err != nil {
			return origins{}, err
		}
		if err := pack.Close(); err != nil {
			return origins{}, err
		}
		out.of[key] = bytes.Clone(b.Bytes())
	}
	return out, nil
}

// why returns those of a sprint.
func (o *origins) why(key ir.Key) (out project.WhyJSON, err error) {
	if o.none != "" {
		return out, unknown("%s", o.none)
	}
	packed, is := o.of[key]
	if !is {
		return out, unknown("there is no sprint %s in the plan as it is now", key)
	}
	return out, json.NewDecoder(flate.NewReader(bytes.NewReader(packed))).Decode(&out)
}
