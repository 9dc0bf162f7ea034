package shepherd

// Losses are what an import changes, or leaves as a comment, as pairs of key and what
// becomes of it: the table of docs/formats/shepherd.md.
var Losses = [][2]string{
	{"`capabilities` of a phase that no single agent has", "the step names the fallback agent, else the agent that has most of them; a warning says which (Agent Shepherd would find nobody)"},
	{"`session_strategy: reuse`", "`session = \"resume\"`: the next attempt of the same step goes on in the session, other steps begin afresh; a warning says so"},
	{"`transitions`", "a fail goes to one step, itself or an earlier one (`next`); what passes goes on to the next step. Choices by an agent, jumps ahead and success elsewhere are comments, with a warning"},
	{"`depends_on` of a phase", "gives the order of the steps; they run one after another"},
	{"`trigger` with `issue_types`", "in Agent Shepherd one of the two is enough; `match` asks for both"},
	{"equal `priority` of policies for the same label or type", "all priorities are multiplied by ten, and the first of the file gets the highest"},
	{"`require_approval`, `require_hitl`", "ask for an approver: the agents with `is_human`, else the user who imports, with a warning"},
	{"`agent_type: subagent`", "OpenCode starts no subagent by itself: a warning, where one is chosen for a step"},
	{"a `runner` of an unknown `type`", "OpenCode, with a warning"},
	{"`human_takeover`, `idle_cooldown_ms` of a policy that is not the default one", "a comment: they hold for a whole run"},
	{"`max_visits`, `worker_assistant`, `custom_prompt`, `reuse_session_from_phase`, `max_file_size`, `max_complexity`, `specialized_domains`, other `metadata`, `provider_id` without `model_id`", "comments in the block"},
	{"`ui`, `workflow`, `hitl`, `loop_prevention`, `worker_assistant`, `cleanup`, `retention`, `monitor.poll_interval_ms`", "comments at the end, each with the reason"},
	{"unknown keys", "comments where they stood, and a note; `--strict` refuses them"},
	{"comments and layout of the YAML, `version`", "are gone"},
}
