package diag

// policyCodes declares the codes about the HCL policy (owner: policies).
var policyCodes = []Entry{
	{
		Code: "policy-syntax", Severity: Error, About: "policy",
		Title: "Policy text cannot be read",
		Why:   "The text does not follow the grammar of HCL. ralph reads what it can and reports the rest in the same run; what follows a mistake of this kind may be reported wrongly, so mend the first one first.",
		Wrong: `gate "unit" {
  run = "go test ./...
}`,
		Right: `gate "unit" {
  run = "go test ./..."
}`,
	},
	{
		Code: "policy-too-large", Severity: Error, About: "policy",
		Title: "Policy text is beyond a limit",
		Why:   "A policy file or fence may have 1 MiB, brackets may be nested 64 deep, one value may hold 500 operators. The limits keep a hostile file from exhausting memory; no policy that a person writes comes near. Move large data into a file of the project and read it with `jsonfile()`.",
	},
	{
		Code: "policy-unknown-block", Severity: Error, About: "policy",
		Title: "Unknown block type",
		Why:   "Only the blocks of the policy language may stand here. A misspelt block would silently do nothing, so it is an error.",
		Wrong: `gates "unit" {
  run = "make test"
}`,
		Right: `gate "unit" {
  run = "make test"
}`,
	},
	{
		Code: "policy-unknown-attribute", Severity: Error, About: "policy",
		Title: "Unknown attribute",
		Why:   "The block has no attribute of this name. A misspelt attribute would silently do nothing, so it is an error.",
		Wrong: `gate "unit" {
  run     = "make test"
  timeuot = "5m"
}`,
		Right: `gate "unit" {
  run     = "make test"
  timeout = "5m"
}`,
	},
	{
		Code: "policy-missing-attribute", Severity: Error, About: "policy",
		Title: "A required attribute is missing",
		Why:   "The block cannot do its work without this attribute.",
		Wrong: `model "fast" {
  provider = "anthropic"
}`,
		Right: `model "fast" {
  id       = "haiku"
  provider = "anthropic"
}`,
	},
	{
		Code: "policy-label", Severity: Error, About: "policy",
		Title: "A block's name is missing or one too many",
		Why:   "Blocks that others refer to carry one name in quotes behind their type; blocks that stand once carry none.",
		Wrong: `gate {
  run = "make test"
}`,
		Right: `gate "unit" {
  run = "make test"
}`,
	},
	{
		Code: "policy-duplicate-block", Severity: Error, About: "policy",
		Title: "A block is declared twice",
		Why:   "All policy files are one policy. Two blocks of the same type and name would contradict each other, and which one counts would depend on the order of files. A block of yours may replace a built-in one of the same name; that is no repetition.",
		Wrong: `gate "unit" { run = "make test" }
gate "unit" { run = "make check" }`,
		Right: `gate "unit" { run = "make test" }
gate "lint" { run = "make check" }`,
	},
	{
		Code: "plan-text-in-command", Severity: Error, About: "policy",
		Title: "Text of a plan would be read by a shell",
		Why: "A title is written by whoever writes the plan. In `run` a shell would read it as a part of the command: a title \"; true #\" would loosen the gate. " +
			"Text of the plan goes into a command only if it has nothing but letters, digits and `_@%+=:,./-`; keys always do. Give any other as a variable.",
		Wrong: `gate "docs" {
  kind = "command"
  run  = "check-docs ${node.title}"
}`,
		Right: `gate "docs" {
  kind = "command"
  env  = { TITLE = node.title }
  run  = "check-docs \"$TITLE\""
}`,
	},
	{
		Code: "policy-invalid-value", Severity: Error, About: "policy",
		Title: "An attribute has a wrong value",
		Why:   "The value is of the wrong type, is none of the words that the attribute knows, or is out of range. Durations are texts with a unit, money is a number of US dollars.",
		Wrong: `step "build" {
  timeout = 20
}`,
		Right: `step "build" {
  timeout = "20m"
}`,
	},
	{
		Code: "policy-expression", Severity: Error, About: "policy",
		Title: "An expression cannot be evaluated",
		Why:   "HCL could not compute the value: an operand has the wrong type, a function got a wrong argument, an index does not exist.",
		Wrong: `priority = "high" + 1`,
		Right: "priority = 10",
	},
	{
		Code: "policy-expression-costly", Severity: Error, About: "policy",
		Title: "An expression costs too much",
		Why:   "The evaluation of an expression is bounded, because a few characters of nested `for` can describe more work than any machine does. Bounded are the values touched in one evaluation and in all of them together.",
		Wrong: `tags = [for a in range(1000) : join("", [for b in range(1000) : join("", [for c in range(1000) : "x"])])]`,
		Right: `tags = ["x"]`,
	},
	{
		Code: "policy-unknown-name", Severity: Error, About: "policy",
		Title: "An expression names something unknown",
		Why:   "An expression may begin with `var`, `local`, `node`, `run` or a block type such as `agent` or `gate`. A word without quotes is always a name, so this is often a text whose quotes are missing.",
		Wrong: "access = write",
		Right: `access = "write"`,
	},
	{
		Code: "policy-unknown-function", Severity: Error, About: "policy",
		Title: "An expression calls an unknown function",
		Why:   "Expressions may call the standard functions of HCL and `file`, `jsonfile`, `regex`, `glob`. There is no `env`, `timestamp` or `uuid`: the same files give the same epic on every machine. What differs between runs is a variable, given by `--var`.",
		Wrong: `model = env("MODEL")`,
		Right: `variable "model" { default = "sonnet" }
agent "dev" { model = var.model }`,
	},
	{
		Code: "policy-unknown-reference", Severity: Error, About: "policy",
		Title: "A reference names no block",
		Why:   "Agents, gates, runners, models and other blocks are named as `agent.NAME` or by the name alone, as a text. No block of this type has the name. Blocks may stand in any policy file, in any order.",
		Wrong: `gate "qa" { agent = agent.reviwer }`,
		Right: `gate "qa" { agent = agent.reviewer }`,
	},
	{
		Code: "policy-wrong-reference", Severity: Error, About: "policy",
		Title: "A reference names a block of another type",
		Why:   "The attribute needs the name of another type of block.",
		Wrong: `gate "qa" { agent = gate.unit }`,
		Right: `gate "qa" { agent = agent.reviewer }`,
	},
	{
		Code: "policy-node-not-known", Severity: Error, About: "policy",
		Title: "node.* stands where no node is known",
		Why:   "`node.*` has a value for each node. It can stand in gates, policies, steps and in rules over nodes; other blocks are the same for all nodes.",
		Wrong: `agent "dev" { model = node.complexity == "critical" ? "opus" : "sonnet" }`,
		Right: `policy "default" {
  step "implement" {
    model = node.complexity == "critical" ? "opus" : "sonnet"
  }
}`,
	},
	{
		Code: "policy-run-not-known", Severity: Error, About: "policy",
		Title: "run.* stands where it cannot be inserted",
		Why:   "`run.*` is known only when running. It can be inserted into the texts of `run`, `prompt` and `env`, and apply fills it in; nothing can be computed from it when compiling.",
		Wrong: "run = upper(run.branch)",
		Right: `run = "check.sh ${run.branch}"`,
	},
	{
		Code: "policy-not-in-fence", Severity: Error, About: "policy",
		Title: "A block that cannot stand in a plan's fence",
		Why:   "An `hcl ralph` fence adjusts the work of its plan, phase or sprint: steps, retries, limits, gates. Who does the work (agents, runners, models, secrets) and what holds for the whole project belongs into a policy file, where its reviewers look for it.",
		Wrong: "```hcl ralph\nrunner \"mine\" { kind = \"command\" }\n```",
		Right: "```hcl ralph\ntimeout = \"40m\"\n```",
	},
	{
		Code: "policy-variable", Severity: Error, About: "policy",
		Title: "A variable has no value, or a wrong one",
		Why:   "A variable takes its value from `--var NAME=VALUE`, else from its default. The value must fit its type and fulfil its validations, and `--var` may only name variables that a policy declares.",
		Wrong: `variable "level" {
  type = number
}`,
		Right: `variable "level" {
  type    = number
  default = 2
}`,
	},
	{
		Code: "policy-local-cycle", Severity: Error, About: "policy",
		Title: "Locals need each other in a circle",
		Why:   "A local is computed from other locals, and none of the circle could be first.",
		Wrong: `locals {
  a = local.b
  b = local.a
}`,
		Right: `locals {
  a = "x"
  b = local.a
}`,
	},
	{
		Code: "policy-version", Severity: Error, About: "policy",
		Title: "The policy needs another version of ralph",
		Why:   "`ralph { required = … }` says for which versions the policy was written. A pre-release counts as the release that it leads to.",
		Wrong: `ralph { required = ">= 99" }`,
		Right: `ralph { required = ">= 0.1" }`,
	},
	{
		Code: "policy-two-defaults", Severity: Error, About: "policy",
		Title: "Two blocks are the default",
		Why:   "One policy stands below every other, and one level of complexity is that of sprints that nothing matches.",
		Wrong: `policy "a" { default = true }
policy "b" { default = true }`,
		Right: `policy "a" { default = true }
policy "b" { priority = 1 }`,
	},
	{
		Code: "policy-empty", Severity: Warning, Strict: true, About: "policy",
		Title: "A policy says nothing",
		Why:   "It has neither a step nor a setting, so choosing it changes nothing.",
		Wrong: `policy "web" {}`,
		Right: `policy "web" {
  step "implement" { capabilities = ["implement"] }
}`,
	},
	{
		Code: "gate-without-command", Severity: Error, About: "policy",
		Title: "A command gate has no command",
		Why:   "A command gate passes when its command succeeds, so it needs one. ralph looks for the project's test framework (Rust, Python, Node, Go, Gradle, Maven, in this order) and proposes its command; it never guesses silently, because a gate that runs the wrong tests passes too easily. `run = \"tests\"` asks for the same proposal.",
		Wrong: `gate "tests_pass" {
  kind = "command"
}`,
		Right: `gate "tests_pass" {
  kind = "command"
  run  = "go test ./..."
}`,
	},
	{
		Code: "gate-without-approver", Severity: Error, About: "policy",
		Title: "A human gate without an approver",
		Why:   "A human gate waits until one of its approvers agrees. Without any, it would wait for ever. Approvers may stand in the gate or, for all gates, in `hitl { approvers = [...] }`.",
		Wrong: `gate "release" {
  kind = "human"
}`,
		Right: `gate "release" {
  kind      = "human"
  approvers = ["ada"]
}`,
	},
	{
		Code: "gate-without-verdict", Severity: Error, About: "policy",
		Title: "A gate that cannot give a verdict",
		Why:   "Every gate ends with pass, fail, stop or error. A gate of kind agent needs an agent, by name or by capability; one of kind outcome needs something to look for.",
		Wrong: `gate "done" {
  kind = "outcome"
}`,
		Right: `gate "done" {
  kind    = "outcome"
  promise = "DONE"
}`,
	},
	{
		Code: "gate-output", Severity: Error, About: "policy",
		Title: "A gate's output schema gives no verdict",
		Why:   "What a QA agent answers is checked against the gate's output schema. For the answer to be a verdict, the schema must define and require `status` with the enum pass, fail, stop (exactly these) and `message`. Further fields are welcome.",
		Wrong: `output {
  field "status" { enum = ["ok", "bad"] }
  field "message" {}
}`,
		Right: `output {
  field "status" { enum = ["pass", "fail", "stop"] }
  field "message" {}
}`,
	},
	{
		Code: "gate-schema", Severity: Error, About: "policy",
		Title: "A gate's schema is no JSON Schema",
		Why:   "Schemas are JSON Schema of draft 2020-12, or of draft-07 when their `$schema` says so. They must be complete: nothing outside is fetched.",
		Wrong: `output_schema = { type = "objekt" }`,
		Right: `output_schema = jsonfile("schemas/qa.json")`,
	},
	{
		Code: "gate-never-on-base", Severity: Error, About: "policy",
		Title: "A gate must be green on the base and is never tried there",
		Why:   "Before a run ralph tries gates on the commit that sprints start from. One that depends on the sprint, that has to fail before the work, or that the plan defines is left out, so baseline would hold nothing up.",
		Wrong: `gate "unit" {
  run       = "make test"
  red_first = true
  baseline  = "green"
}`,
		Right: `gate "unit" {
  run      = "make test"
  baseline = "green"
}`,
	},
	{
		Code: "gate-planning-only", Severity: Error, About: "policy",
		Title: "A gate that judges plans stands in a step",
		Why:   "A gate of kind compiles hands the plan that `ralph draft` has written to the compiler. It stands in planning by itself; the work of a sprint is judged by other kinds.",
		Wrong: `gate "plan" { kind = "compiles" }

policy "default" {
  step "implement" { gates = [gate.plan] }
}`,
		Right: `gate "unit" { run = "go test ./..." }

policy "default" {
  step "implement" { gates = [gate.unit] }
}`,
	},
	{
		Code: "draft-agent", Severity: Error, About: "policy",
		Title: "A plan cannot be drafted or reviewed by that",
		Why:   "In `draft { }` agents write the plan and look around for it, and one agent, or one gate of kind review, may judge it before a person does. People approve plans; commands and other gates judge work.",
		Wrong: `draft {
  review = gate.unit
}`,
		Right: `draft {
  review = agent.reviewer
}`,
	},
	{
		Code: "gate-unused-attribute", Severity: Warning, Strict: true, About: "policy",
		Title: "An attribute that the gate's kind does not look at",
		Why:   "Each kind of gate uses some attributes only. One that is not used gives a false sense of safety.",
		Wrong: `gate "unit" {
  kind    = "command"
  run     = "make test"
  promise = "DONE"
}`,
		Right: `gate "unit" {
  kind = "command"
  run  = "make test"
}`,
	},
	{
		Code: "capability-unknown", Severity: Error, About: "policy",
		Title: "An unknown capability",
		Why:   "Agents are chosen by capability, so a misspelt one would leave a step without an agent. The built-in vocabulary is plan, implement, test, review, debug, doc, analyze, explore, code, browsertest, human_review; others are declared in `ralph { capabilities = [...] }`.",
		Wrong: `agent "dev" { capabilities = ["implment"] }`,
		Right: `agent "dev" { capabilities = ["implement"] }`,
	},
	{
		Code: "lane-unknown", Severity: Error, About: "policy",
		Title: "An unknown lane",
		Why:   "Once `ralph { lanes = [...] }` declares lanes, every lane must be one of them.",
		Wrong: `ralph { lanes = ["ui", "api"] }
concurrency { per_lane = { uii = 1 } }`,
		Right: `ralph { lanes = ["ui", "api"] }
concurrency { per_lane = { ui = 1 } }`,
	},
	{
		Code: "fallback-cycle", Severity: Error, About: "policy",
		Title: "Agents fall back to each other in a circle",
		Why:   "A fallback is taken when an agent is not available. In a circle the search would come back to where it began.",
		Wrong: `agent "a" { fallback = [agent.b] }
agent "b" { fallback = [agent.a] }`,
		Right: `agent "a" { fallback = [agent.b] }
agent "b" {}`,
	},
	{
		Code: "step-unreachable", Severity: Error, About: "policy",
		Title: "A step cannot be reached",
		Why:   "`next` says where a fail goes: to the step itself or back to an earlier one. A fail that leads ahead would pass over the steps between, which then never run, and over the verdict itself.",
		Wrong: `step "implement" { next = "review" }
step "test" {}
step "review" {}`,
		Right: `step "implement" {}
step "test" { next = "implement" }
step "review" { next = "implement" }`,
	},
	{
		Code: "complexity-rank", Severity: Error, About: "policy",
		Title: "Two levels of complexity share a rank",
		Why:   "The highest rank that matches wins. With equal ranks the winner would be arbitrary. A level of yours must not take the rank of a built-in one that it does not replace.",
		Wrong: `complexity "huge" { rank = 4 }`,
		Right: `complexity "huge" { rank = 5 }`,
	},
	{
		Code: "dialect-unknown", Severity: Error, About: "policy",
		Title: "An unknown dialect",
		Why:   "A dialect says how the items of a plan are written. It is chosen by name, in the front matter, in `ralph { dialect = … }` or with `--dialect`.",
		Wrong: `ralph { dialect = "sprints" }`,
		Right: `ralph { dialect = "sprint" }`,
	},
	{
		Code: "dialect-cycle", Severity: Error, About: "policy",
		Title: "Dialects extend each other in a circle",
		Why:   "A dialect takes everything that it does not say from the one that it extends.",
		Wrong: `dialect "a" { extends = dialect.b }
dialect "b" { extends = dialect.a }`,
		Right: `dialect "a" { extends = dialect.task }`,
	},
	{
		Code: "agent-file-yaml", Severity: Warning, About: "policy",
		Title: "An agent file's front matter is no YAML",
		Why:   "Agent programs read such files all the same, and ralph finds name and model line by line. Other tools may not. A colon inside a value that is not quoted is the usual cause.",
		Wrong: `---
name: tester
description: Examples: user: test it
---`,
		Right: `---
name: tester
description: "Examples: user: test it"
---`,
	},
}
