package diag

// policyCodes declares the codes about the HCL policy (owner: policies).
var policyCodes = []Entry{
	{
		Code: "policy-syntax", Severity: Error, About: "policy",
		Title: "Policy text cannot be read",
	},
	{
		Code: "policy-too-large", Severity: Error, About: "policy",
		Title: "Policy text is beyond a limit",
	},
	{
		Code: "policy-unknown-block", Severity: Error, About: "policy",
		Title: "Unknown block type",
	},
	{
		Code: "policy-unknown-attribute", Severity: Error, About: "policy",
		Title: "Unknown attribute",
	},
	{
		Code: "policy-missing-attribute", Severity: Error, About: "policy",
		Title: "A required attribute is missing",
	},
	{
		Code: "policy-label", Severity: Error, About: "policy",
		Title: "A block's name is missing or one too many",
	},
	{
		Code: "policy-duplicate-block", Severity: Error, About: "policy",
		Title: "A block is declared twice",
	},
	{
		Code: "plan-text-in-command", Severity: Error, About: "policy",
		Title: "Text of a plan would be read by a shell",
	},
	{
		Code: "policy-invalid-value", Severity: Error, About: "policy",
		Title: "An attribute has a wrong value",
	},
	{
		Code: "policy-expression", Severity: Error, About: "policy",
		Title: "An expression cannot be evaluated",
	},
	{
		Code: "policy-expression-costly", Severity: Error, About: "policy",
		Title: "An expression costs too much",
	},
	{
		Code: "policy-unknown-name", Severity: Error, About: "policy",
		Title: "An expression names something unknown",
	},
	{
		Code: "policy-unknown-function", Severity: Error, About: "policy",
		Title: "An expression calls an unknown function",
	},
	{
		Code: "policy-unknown-reference", Severity: Error, About: "policy",
		Title: "A reference names no block",
	},
	{
		Code: "policy-wrong-reference", Severity: Error, About: "policy",
		Title: "A reference names a block of another type",
	},
	{
		Code: "policy-node-not-known", Severity: Error, About: "policy",
		Title: "node.* stands where no node is known",
	},
	{
		Code: "policy-run-not-known", Severity: Error, About: "policy",
		Title: "run.* stands where it cannot be inserted",
	},
	{
		Code: "policy-not-in-fence", Severity: Error, About: "policy",
		Title: "A block that cannot stand in a plan's fence",
	},
	{
		Code: "policy-variable", Severity: Error, About: "policy",
		Title: "A variable has no value, or a wrong one",
	},
	{
		Code: "policy-local-cycle", Severity: Error, About: "policy",
		Title: "Locals need each other in a circle",
	},
	{
		Code: "policy-version", Severity: Error, About: "policy",
		Title: "The policy needs another version of ralph",
	},
	{
		Code: "policy-two-defaults", Severity: Error, About: "policy",
		Title: "Two blocks are the default",
	},
	{
		Code: "policy-empty", Severity: Warning, Strict: true, About: "policy",
		Title: "A policy says nothing",
	},
	{
		Code: "gate-without-command", Severity: Error, About: "policy",
		Title: "A command gate has no command",
	},
	{
		Code: "gate-without-approver", Severity: Error, About: "policy",
		Title: "A human gate without an approver",
	},
	{
		Code: "gate-without-verdict", Severity: Error, About: "policy",
		Title: "A gate that cannot give a verdict",
	},
	{
		Code: "gate-output", Severity: Error, About: "policy",
		Title: "A gate's output schema gives no verdict",
	},
	{
		Code: "gate-schema", Severity: Error, About: "policy",
		Title: "A gate's schema is no JSON Schema",
	},
	{
		Code: "gate-never-on-base", Severity: Error, About: "policy",
		Title: "A gate must be green on the base and is never tried there",
	},
	{
		Code: "gate-planning-only", Severity: Error, About: "policy",
		Title: "A gate that judges plans stands in a step",
	},
	{
		Code: "draft-agent", Severity: Error, About: "policy",
		Title: "A plan cannot be drafted or reviewed by that",
	},
	{
		Code: "gate-unused-attribute", Severity: Warning, Strict: true, About: "policy",
		Title: "An attribute that the gate's kind does not look at",
	},
	{
		Code: "capability-unknown", Severity: Error, About: "policy",
		Title: "An unknown capability",
	},
	{
		Code: "lane-unknown", Severity: Error, About: "policy",
		Title: "An unknown lane",
	},
	{
		Code: "fallback-cycle", Severity: Error, About: "policy",
		Title: "Agents fall back to each other in a circle",
	},
	{
		Code: "step-unreachable", Severity: Error, About: "policy",
		Title: "A step cannot be reached",
	},
	{
		Code: "complexity-rank", Severity: Error, About: "policy",
		Title: "Two levels of complexity share a rank",
	},
	{
		Code: "dialect-unknown", Severity: Error, About: "policy",
		Title: "An unknown dialect",
	},
	{
		Code: "dialect-cycle", Severity: Error, About: "policy",
		Title: "Dialects extend each other in a circle",
	},
	{
		Code: "agent-file-yaml", Severity: Warning, About: "policy",
		Title: "An agent file's front matter is no YAML",
	},
}
