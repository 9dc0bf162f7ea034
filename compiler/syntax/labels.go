package syntax

import "slices"

// Labels lists the labels of the plan language, in the order of their table.
func Labels() []LabelName {
	out := make([]LabelName, len(labelSpecs))
	for i, s := range labelSpecs {
		out[i] = s.name
	}
	return out
}

// Written lists how a label may be written, the usual form first.
func (n LabelName) Written() []string {
	for _, s := range labelSpecs {
		if s.name == n {
			return slices.Clone(s.written)
		}
	}
	return nil
}
