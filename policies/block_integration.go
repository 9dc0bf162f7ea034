package policies

// Integration is the block `integration {}`.
type Integration struct {
	Mode              Value[string]   `hcl:"mode" enum:"branch dag wait" doc:"dag, branch or wait"`
	PR                Value[string]   `hcl:"pr" enum:"node none plan" doc:"pull requests: none, plan or node"`
	ConflictAgent     Value[string]   `hcl:"conflict_agent" ref:"agent" doc:"the agent that resolves conflicts, such as agent.merger"`
	Gates             Value[[]string] `hcl:"gates" ref:"gate" doc:"the gates that judge the result; [] for none"`                    // not Set: the command gates of what is merged
	SerializeOverlaps Value[bool]     `hcl:"serialize_overlaps" doc:"true lets sprints that own the same files wait for each other"` // two unordered nodes that own the same files get an edge
}

var integrationBlock = &block{of: (*Integration)(nil), name: "integration", doc: "how results come together"}
