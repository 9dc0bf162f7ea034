// The answers of /api/v1, as web/api.go and the packages that it names have them.

// Many is a list; Go writes an empty one as null, or leaves it out.
export type Many<T> = T[] | null | undefined;
export type Time = string;

export interface Session {
  version: string;
  user: string;
  read_only: boolean;
  repositories: Many<Repository>;
}

export interface Repository {
  id: string;
  dir: string;
  name: string;
  epics: Many<EpicLine>;
  trouble?: Many<string>;
}

export interface EpicLine {
  id: string;
  epic: string;
  title: string;
  slug: string;
  plan: string;
  file: string;
  changed?: boolean;
  draft?: boolean;
  seq: number;
  run: Run;
  says: string;
  counts: Record<string, number> | null;
  total: number;
  waits: number;
  failed: number;
  spent: string;
  ended?: Time;
  broken?: string;
}

export interface Run {
  survivors?: Many<{ pid: number; what: string; program: string; files?: string; since: Time | null }>;
  state: string; // not started, at work, ending, interrupted, ended
  pid?: number;
  user?: string;
  started?: Time;
  by?: string;
  slots?: number;
  draining?: string;
  held?: string;
  held_detail?: string;
  plan_approved: boolean;
  budget: Budget;
  spent: Spent;
  spent_in_all: Spent;
  base?: string;
}

export interface Budget {
  tokens: number;
  usd_micro: number;
  wall_ms: number;
}

export interface Spent {
  tokens: number | null;
  tokens_at_least: number;
  usd_micro: number | null;
  usd_micro_at_least: number;
  work_ms: number;
}

export interface Inbox {
  items: Many<InboxItem>;
  failures: Many<Failure>;
}

export interface InboxItem {
  epic: string;
  epic_title: string;
  repo: string;
  key?: string;
  title: string;
  status: string;
  cause?: string;
  asks: string;
  reason?: string;
  since?: Time;
  gate?: string;
  approvers?: Many<string>;
  verdicts: Many<Gate>;
  files: number;
  added: number;
  removed: number;
  offers: Many<Offer>;
  next: Many<NextStep>;
  holds: number;
  seq: number;
}

// Way is something that a person can do now.
export interface Way {
  verb: string;
  how?: string;
  key?: string;
  message?: boolean;
  budget?: string;
}

export interface Offer extends Way {
  what: string;
  command: string;
  main?: boolean;
  tamper?: string;
}

export interface NextStep {
  command: string;
  what: string;
  way?: Way;
}

export interface Failure {
  epic: string;
  epic_title: string;
  repo: string;
  reason: string;
  keys: Many<string>;
  title: string;
  gate?: string;
  failed?: Many<string>;
  tries: number;
  holds: number;
  offers: Many<Offer>;
  seq: number;
}

export interface SprintLine {
  key: string;
  title: string;
  phase?: string;
  status: string;
  word: string;
  doing?: string;
  reason?: string;
  since?: Time;
  tries: number;
  spent?: string;
  work_ms: number;
}

export interface Epic extends EpicLine {
  repo: string;
  dir: string;
  digest: string;
  inbox: Many<InboxItem>;
  failures: Many<Failure>;
  running: Many<SprintLine>;
  upcoming: Many<SprintLine>;
  sprints: Many<SprintLine>;
  proposals: Many<Proposed>;
  changes: Many<Change>;
  doubts: Many<string>;
  offers: Many<Offer>;
  command: string;
  forecast: Forecast | null;
}

export interface Proposed {
  title: string;
  text?: string;
  node: string;
  agent?: string;
}

export interface Change {
  id: string;
  grade: string;
  what: string;
  was: string;
  is: string;
  during: Many<string>;
  state: string; // open, accepted, undone
  accepted_by?: string;
  put_back?: string;
  look?: string;
  is_back?: boolean;
  earlier?: number;
  accept?: string;
  fails_the_run: boolean;
  text: string;
  at: Time;
}

export interface Forecast {
  p50_ms: number;
  p90_ms: number;
  slots: number;
  note: string;
}

export interface Entry {
  epic: string;
  seq: number;
  at: Time;
  kind: string;
  key?: string;
  status?: string;
  text: string;
}

export interface Log {
  entries: Many<Entry>;
  before: number;
}

export interface Sprint {
  seq: number;
  word: string;
  asks?: string;
  show: Show;
  after: Many<SprintLine>;
  before: Many<SprintLine>;
  offers: Many<Offer>;
  join: Many<Joining>;
  tail: TailOf | null;
  bead?: Bead;
}

export interface Show {
  key: string;
  id: string;
  title: string;
  kind: string;
  phase?: string;
  status: string;
  waits_for?: string;
  cause?: string;
  until?: Time;
  goes_on?: boolean;
  reason?: string;
  blocked_by?: string;
  gate?: string;
  approvers?: Many<string>;
  needs?: Many<string>;
  step?: string;
  doing?: string;
  last_activity?: Time;
  last_human_message?: Time;
  since?: Time;
  started?: Time;
  ended?: Time;
  spent: Spent;
  commit?: string;
  tree?: string;
  branch?: string;
  worktree?: string;
  pr_url?: string;
  pr_number?: number;
  attempts: Many<Attempt>;
  next?: Many<NextStep>;
  same_as?: string;
  spec?: Spec;
  feedback?: Many<string>;
  decisions?: Many<Decision>;
  refs: Many<string>;
  plan?: string;
  plan_line?: number;
}

export interface Spec {
  goal: string;
  tasks: Many<{ text: string; detail: Many<string> }>;
  acceptance: Many<string>;
  prompt: Many<string>;
}

export interface Decision {
  id: string;
  verb: string;
  how?: string;
  message?: string;
  by: string;
  user: string;
  via?: string;
  at: Time;
}

export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

export interface Gate {
  gate: string;
  verdict: string;
  message?: string;
  tests: string;
  counts?: Counts;
  failed?: Many<string>;
  ms: number;
  agent?: string;
  model?: string;
  session?: string;
  tokens?: number;
  usd_micro?: number;
  by?: string;
  details?: string;
  evidence?: string;
  red_first?: boolean;
  doubt?: string;
}

export interface Attempt {
  step: string;
  number: number;
  status: string;
  waits_for?: string;
  reason?: string;
  for_person?: boolean;
  agent?: string;
  model?: string;
  session?: string;
  person?: string;
  started?: Time;
  ended?: Time;
  iterations: number;
  work_ms?: number;
  agent_ms: number;
  tokens: number | null;
  usd_micro: number | null;
  files_changed: number;
  lines_added: number;
  lines_removed: number;
  commit?: string;
  outcome?: Outcome;
  tests?: Counts;
  problems?: Many<string>;
  gates: Many<Gate>;
  files: string;
  feedback?: Many<string>;
  changes?: Many<FileChange>;
}

export interface Outcome {
  result: string;
  next_action?: string;
  summary?: string;
  needs_human?: boolean;
  invalid?: string;
  errors?: Many<string>;
}

export interface FileChange {
  path: string;
  type: string; // created, modified, deleted, renamed
  from?: string;
  added: number; // lines; -1 for binary files
  removed: number;
}

export interface Joining {
  session: string;
  agent: string;
  step: string;
  attempt: number;
  gate?: string;
  command?: string;
  cannot?: string;
}

export interface TailOf {
  step: string;
  attempt: number;
  file: string;
}

export interface Bead {
  id: string;
  comments: Many<{ author: string; at: Time; text: string }>;
  unsent: number;
}

export interface Diff {
  key: string;
  title: string;
  status: string;
  cause?: string;
  step?: string;
  attempt?: number;
  from: Tree;
  to: Tree;
  approval?: Approval;
  files: Many<FileChange>;
  gates: Many<Gate>;
  notes?: Many<string>;
  next?: Many<NextStep>;
  patch: string;
  truncated?: boolean;
}

export interface Tree {
  commit: string;
  tree: string;
}

export interface Approval {
  gate: string;
  gate_digest: string;
  result: string;
  base: string;
  approvers?: Many<string>;
}

export interface FileLine {
  name: string;
  size: number;
  what: string; // prompt, log, gate, other
}
export interface FileList {
  files: Many<FileLine>;
}

export interface Graph {
  digest: string;
  phases: Many<{ key: string; title: string }>;
  nodes: Many<GraphNode>;
  critical: Many<string>; // longest path, first sprint first
}
export interface GraphNode {
  key: string;
  title: string;
  phase: string;
  kind: string;
  after: Many<{ key: string; type: string }>; // only "blocks" schedules
}
export interface Statuses {
  seq: number;
  state: Record<string, string>; // status; "waiting human"
}

export interface RunGraph {
  runs: Many<AgentRun>;
  edges: Many<RunEdge>;
}
export interface AgentRun {
  id: string;
  key: string;
  title: string;
  step: string;
  attempt: number;
  agent?: string;
  status: string;
  reason?: string;
  session?: string;
  started?: Time;
  ended?: Time;
  spent?: string;
  commit?: string;
  verdicts: Many<{ gate: string; verdict: string }>;
}
export interface RunEdge {
  from: string;
  to: string;
  type: string; // retry, next, blocks
}

export interface Why {
  key: string;
  reasons: Many<{ field: string; value: string; origin: string; range?: Place | null }>;
}
export interface Place {
  file?: string;
  from?: { line: number; column: number };
}

export interface Trust {
  seq: number;
  checks: Many<TrustCheck>;
}
export interface TrustCheck {
  name: string;
  title: string;
  state: string; // good, look, bad
  text: string;
  proofs: Many<Proof>;
  more?: number;
}
export interface Proof {
  seq?: number;
  at?: Time;
  key?: string;
  step?: string;
  attempt?: number;
  file?: string;
  command?: string;
  bad?: boolean;
  text: string;
}

export interface Cost {
  spent: string;
  all: CostSum;
  lost: CostSum;
  phases: Many<CostLine>;
  agents: Many<CostLine>;
  models: Many<CostLine>;
  outcomes: Many<CostLine>;
  sprints: Many<CostLine>;
}
export interface CostSum {
  tokens: number;
  usd_micro: number;
  tokens_known: boolean;
  usd_known: boolean;
  ms: number;
  text: string;
}
export interface CostLine extends CostSum {
  name: string;
  title?: string;
}

export interface Plan {
  file: string;
  lines: Many<string>;
  keys: Many<{ line: number; key: string; status?: string; word?: string }>;
  diagnostics: { errors: number; warnings: number; diagnostics: Many<Diagnostic> };
  cannot?: string;
  stale: boolean;
  text?: string;
  command?: string;
}
export interface Diagnostic {
  code: string;
  severity: string; // error, warning, note, hint
  summary: string;
  detail: string;
  range: Place | null;
}

// Decide is the body of a decision. The same id counts once.
export interface Decide {
  id: string;
  verb: string;
  how?: string;
  message?: string;
  as?: string;
  seen: number;
  budget?: string;
  tamper?: string;
  digest?: string;
  gate?: string;
  result?: string;
  base?: string;
}

export interface Decided {
  taken: boolean;
  text: string;
  command?: string;
  user: string;
  by: string;
}

export interface Fault {
  error: string;
  hint?: string;
  reason: string;
}
