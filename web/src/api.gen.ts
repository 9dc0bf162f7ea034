// The answers of /api/v1, made from the route table by `make web-types`. Do not edit.

export interface Schemas {
  AgentRun: AgentRun;
  ApprovalJSON: ApprovalJSON;
  AttemptJSON: AttemptJSON;
  BaselineJSON: BaselineJSON;
  Bead: Bead;
  BeadComment: BeadComment;
  Budget: Budget;
  Change: Change;
  ChangeJSON: ChangeJSON;
  Complexity: Complexity;
  Cost: Cost;
  CostLine: CostLine;
  CostSum: CostSum;
  Decide: Decide;
  Decided: Decided;
  Decision: Decision;
  DiagnosticJSON: DiagnosticJSON;
  DiagnosticsJSON: DiagnosticsJSON;
  Diff: Diff;
  Difference: Difference;
  DiskJSON: DiskJSON;
  Edge: Edge;
  EdgeRef: EdgeRef;
  Entry: Entry;
  EntryChange: EntryChange;
  Epic: Epic;
  EpicLine: EpicLine;
  ErredJSON: ErredJSON;
  Failure: Failure;
  Fault: Fault;
  FileChange: FileChange;
  FileHit: FileHit;
  FileLine: FileLine;
  FileList: FileList;
  FileSearch: FileSearch;
  FixJSON: FixJSON;
  Forecast: Forecast;
  GateJSON: GateJSON;
  Git: Git;
  Graph: Graph;
  GraphEdge: GraphEdge;
  GraphNode: GraphNode;
  Inbox: Inbox;
  InboxItem: InboxItem;
  Issue: Issue;
  IssueEdge: IssueEdge;
  IssueOf: IssueOf;
  Joining: Joining;
  Left: Left;
  Log: Log;
  Moved: Moved;
  MovedJSON: MovedJSON;
  Next: Next;
  NextStep: NextStep;
  Node: Node;
  NodeChange: NodeChange;
  NodeDigest: NodeDigest;
  NodeHITL: NodeHITL;
  NodeJSON: NodeJSON;
  NodeLimits: NodeLimits;
  NodeRef: NodeRef;
  Offer: Offer;
  Open: Open;
  Opened: Opened;
  Outcome: Outcome;
  PastRun: PastRun;
  Phase: Phase;
  Place: Place;
  Plan: Plan;
  PlanJSON: PlanJSON;
  PlanKey: PlanKey;
  PlannedJSON: PlannedJSON;
  Position: Position;
  Proof: Proof;
  Proposal: Proposal;
  Proposed: Proposed;
  Pull: Pull;
  Range: Range;
  ReasonJSON: ReasonJSON;
  Refusal: Refusal;
  RelatedJSON: RelatedJSON;
  Rename: Rename;
  Repository: Repository;
  Result: Result;
  Retry: Retry;
  RunEdge: RunEdge;
  RunGraph: RunGraph;
  RunJSON: RunJSON;
  Sandboxed: Sandboxed;
  Scope: Scope;
  Session: Session;
  ShowJSON: ShowJSON;
  Side: Side;
  Sight: Sight;
  Sprint: Sprint;
  SprintLine: SprintLine;
  Stall: Stall;
  Statuses: Statuses;
  Step: Step;
  StepLimits: StepLimits;
  SurvivorJSON: SurvivorJSON;
  TailOf: TailOf;
  Task: Task;
  TestCounts: TestCounts;
  TimelinePart: TimelinePart;
  TimelineRow: TimelineRow;
  Tree: Tree;
  Trust: Trust;
  TrustCheck: TrustCheck;
  Verdict: Verdict;
  Way: Way;
  Weakening: Weakening;
  WhyJSON: WhyJSON;
  heldJSON: HeldJSON;
  ir_Change: Ir_Change;
  leftOutJSON: LeftOutJSON;
  spentJSON: SpentJSON;
}
export interface AgentRun {
  id: string;
  key: string;
  title: string;
  step: string;
  attempt: number;
  agent?: string;
  status: string;
  shown: string;
  reason?: string;
  session?: string;
  started?: null | string;
  ended?: null | string;
  work_ms: number;
  spent?: string;
  commit?: string;
  verdicts: Verdict[];
}
export interface Verdict {
  gate: string;
  verdict: string;
}
export interface ApprovalJSON {
  gate: string;
  gate_digest: string;
  result: string;
  base: string;
  approvers?: string[];
}
export interface AttemptJSON {
  step: string;
  number: number;
  status: string;
  waits_for?: string;
  replaced?: boolean;
  reason?: string;
  for_person?: boolean;
  agent?: string;
  model?: string;
  session?: string;
  person?: string;
  started?: null | string;
  ended?: null | string;
  iterations: number;
  work_ms?: number;
  agent_ms: number;
  tokens: null | number;
  usd_micro: null | number;
  files_changed: number;
  lines_added: number;
  lines_removed: number;
  commit?: string;
  outcome?: Outcome | null;
  tests?: TestCounts | null;
  problems?: string[];
  gates: GateJSON[];
  erred?: ErredJSON[];
  files: string;
  sandbox?: Sandboxed | null;
  feedback?: string[];
  changes?: FileChange[];
}
export interface Outcome {
  result: string;
  next_action?: string;
  summary?: string;
  suggested_next_phase?: string;
  needs_human?: boolean;
  invalid?: string;
  promise?: string;
  fatal?: boolean;
  errors?: string[];
  created_issues?: Proposal[];
  pointers?: string[];
  pull?: Pull;
}
export interface Proposal {
  title: string;
  text?: string;
}
export interface Pull {
  number: number;
  url: string;
}
export interface TestCounts {
  passed: number;
  failed: number;
  skipped: number;
}
export interface GateJSON {
  gate: string;
  verdict: string;
  message?: string;
  tests: string;
  counts?: TestCounts | null;
  failed?: string[];
  ms: number;
  agent?: string;
  model?: string;
  session?: string;
  tokens?: null | number;
  usd_micro?: null | number;
  by?: string;
  sandbox?: Sandboxed | null;
  details?: string;
  evidence?: string;
  red_first?: boolean;
  doubt?: string;
}
export interface Sandboxed {
  name: string;
  kind: string;
  closed?: boolean;
  refused?: Refusal[];
  others?: number;
  memory?: string;
}
export interface Refusal {
  host: string;
  times: number;
}
export interface ErredJSON {
  gate: string;
  asked_again?: boolean;
  class?: string;
  message?: string;
  agent?: string;
  session?: string;
  at: string;
}
export interface FileChange {
  path: string;
  type: string;
  from?: string;
  added: number;
  removed: number;
}
export interface BaselineJSON {
  gate: string;
  also?: string[];
  base: string;
  verdict?: string;
  message?: string;
  green?: boolean;
  approved?: string;
  held?: boolean;
  sandbox?: Sandboxed | null;
}
export interface Bead {
  id: string;
  title: string;
  status: string;
  comments: BeadComment[];
  unsent: number;
  asked?: boolean;
  cannot?: string;
}
export interface BeadComment {
  author: string;
  at: string;
  text: string;
}
export interface Budget {
  tokens: number;
  usd_micro: number;
  wall_ms: number;
}
export interface Change {
  id: string;
  grade: string;
  what: string;
  was: string;
  is: string;
  during: string[];
  state: string;
  accepted_by?: string;
  put_back?: string;
  look?: string;
  is_back?: boolean;
  earlier?: number;
  accept?: string;
  fails_the_run: boolean;
  text: string;
  at: string;
}
export interface ChangeJSON {
  version: number;
  key: string;
  id: string;
  title: string;
  status: string;
  cause?: string;
  step?: string;
  attempt?: number;
  from: Tree;
  to: Tree;
  approval?: ApprovalJSON | null;
  files: FileChange[];
  gates: GateJSON[];
  notes?: string[];
  next?: NextStep[];
}
export interface Tree {
  commit: string;
  tree: string;
}
export interface NextStep {
  command: string;
  what: string;
  way?: Way | null;
}
export interface Way {
  verb: string;
  how?: string;
  key?: string;
  message?: boolean;
  budget?: string;
}
export interface Complexity {
  level: string;
  word: string;
  from: string;
}
export interface Cost {
  spent: string;
  all: CostSum;
  lost: CostSum;
  phases: CostLine[];
  agents: CostLine[];
  models: CostLine[];
  outcomes: CostLine[];
  sprints: CostLine[];
}
export interface CostSum {
  tokens: number;
  usd_micro: number;
  tokens_known: boolean;
  usd_known: boolean;
  ms: number;
  text: string;
}
export interface CostLine {
  name: string;
  title?: string;
  tokens: number;
  usd_micro: number;
  tokens_known: boolean;
  usd_known: boolean;
  ms: number;
  text: string;
}
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
  dir: string;
  user: string;
  by: string;
}
export interface Decision {
  id: string;
  verb: string;
  how?: string;
  message?: string;
  by: string;
  user: string;
  via?: string;
  act?: string;
  from?: string;
  at: string;
  budget?: Budget;
  tamper?: string;
  seen?: Sight;
  about?: string;
  gate?: string;
  digest?: string;
  result?: string;
  base?: string;
}
export interface Sight {
  run?: number;
  began?: string;
  state?: string;
  text?: string;
  seq?: number;
}
export interface DiagnosticJSON {
  code: string;
  severity: string;
  summary: string;
  detail: string;
  range: Place | null;
  related: RelatedJSON[];
  fix: FixJSON | null;
  more?: number;
}
export interface Place {
  file: string;
  start: number;
  end: number;
  from?: Position | null;
  to?: Position | null;
}
export interface Position {
  line: number;
  column: number;
}
export interface RelatedJSON {
  range: Place;
  message: string;
}
export interface FixJSON {
  range: Place;
  text: string;
}
export interface DiagnosticsJSON {
  errors: number;
  warnings: number;
  diagnostics: DiagnosticJSON[];
}
export interface Diff {
  version: number;
  key: string;
  id: string;
  title: string;
  status: string;
  cause?: string;
  step?: string;
  attempt?: number;
  from: Tree;
  to: Tree;
  approval?: ApprovalJSON | null;
  files: FileChange[];
  gates: GateJSON[];
  notes?: string[];
  next?: NextStep[];
  patch: string;
  truncated?: boolean;
  command?: string;
}
export interface Difference {
  old: Side;
  new: Side;
  weaker: null | Weakening[];
  added: null | NodeRef[];
  removed: null | NodeRef[];
  renamed: null | Rename[];
  changed: null | NodeChange[];
  edges_added: null | EdgeRef[];
  edges_removed: null | EdgeRef[];
  entries: null | EntryChange[];
  plan: null | Ir_Change[];
}
export interface Side {
  id: string;
  slug: string;
  nodes: number;
  digest: string;
}
export interface Weakening {
  rule: string;
  message: string;
  nodes: null | string[];
}
export interface NodeRef {
  id: string;
  key: string;
  title: string;
}
export interface Rename {
  id: string;
  old: string;
  new: string;
  title: string;
}
export interface NodeChange {
  id: string;
  key: string;
  title: string;
  effect: string;
  fields: null | Ir_Change[];
}
export interface Ir_Change {
  path: string;
  old: string;
  new: string;
  lines: null | string[];
}
export interface EdgeRef {
  node: string;
  key: string;
  type: string;
  from: string;
}
export interface EntryChange {
  table: string;
  name: string;
  what: string;
  fields: null | Ir_Change[];
}
export interface DiskJSON {
  need: number;
  worktrees: number;
  free: number;
}
export interface Edge {
  key: string;
  from: string;
  type: string;
}
export interface Entry {
  epic: string;
  seq: number;
  at: string;
  kind: string;
  key?: string;
  status?: string;
  text: string;
}
export interface Epic {
  id: string;
  epic: string;
  title: string;
  slug: string;
  plan: string;
  file: string;
  changed?: boolean;
  draft?: boolean;
  seq: number;
  run: RunJSON;
  says: string;
  counts: {
    [k: string]: number;
  };
  total: number;
  waits: number;
  failed: number;
  spent: string;
  ended?: null | string;
  rank: number;
  apply: string;
  broken?: string;
  repo: string;
  dir: string;
  digest: string;
  inbox: InboxItem[];
  failures: Failure[];
  running: SprintLine[];
  upcoming: SprintLine[];
  sprints: SprintLine[];
  proposals: Proposed[];
  changes: Change[];
  doubts: string[];
  offers: Offer[];
  command: string;
  forecast: Forecast | null;
  stuck?: string;
}
export interface RunJSON {
  survivors?: SurvivorJSON[];
  state: string;
  pid?: number;
  user?: string;
  started?: null | string;
  by?: string;
  slots?: number;
  sandbox?: string;
  draining?: string;
  held?: string;
  held_detail?: string;
  plan_approved: boolean;
  budget: Budget;
  spent: SpentJSON;
  spent_in_all: SpentJSON;
  base?: string;
}
export interface SurvivorJSON {
  pid: number;
  what: string;
  program: string;
  files?: string;
  since: null | string;
}
export interface SpentJSON {
  tokens: null | number;
  tokens_at_least: number;
  usd_micro: null | number;
  usd_micro_at_least: number;
  work_ms: number;
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
  since?: null | string;
  gate?: string;
  approvers?: string[];
  verdicts: GateJSON[];
  files: number;
  added: number;
  removed: number;
  offers: Offer[];
  next: NextStep[];
  holds: number;
  behind: string[];
  begin: string[];
  seq: number;
  other?: boolean;
}
export interface Offer {
  verb: string;
  how?: string;
  key?: string;
  message?: boolean;
  budget?: string;
  label: string;
  text?: string;
  needs?: string;
  what: string;
  command: string;
  main?: boolean;
  tamper?: string;
  only?: string[];
}
export interface Failure {
  epic: string;
  epic_title: string;
  repo: string;
  reason: string;
  keys: string[];
  title: string;
  gate?: string;
  failed?: string[];
  tries: number;
  holds: number;
  behind: string[];
  offers: Offer[];
  seq: number;
}
export interface SprintLine {
  key: string;
  title: string;
  phase?: string;
  status: string;
  shown: string;
  word: string;
  human?: boolean;
  free?: boolean;
  for?: string;
  doing?: string;
  reason?: string;
  since?: null | string;
  tries: number;
  spent?: string;
  work_ms: number;
}
export interface Proposed {
  title: string;
  text?: string;
  node: string;
  agent?: string;
}
export interface Forecast {
  p50_ms: number;
  p90_ms: number;
  slots: number;
  note: string;
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
  run: RunJSON;
  says: string;
  counts: {
    [k: string]: number;
  };
  total: number;
  waits: number;
  failed: number;
  spent: string;
  ended?: null | string;
  rank: number;
  apply: string;
  broken?: string;
}
export interface Fault {
  error: string;
  hint?: string;
  reason: string;
}
export interface FileHit {
  number: number;
  line: number;
  at: number;
  length: number;
  text: string;
}
export interface FileLine {
  name: string;
  size: number;
  what: string;
}
export interface FileList {
  files: FileLine[];
}
export interface FileSearch {
  size: number;
  searched: number;
  total: number;
  hits: FileHit[];
}
export interface Git {
  branch: string;
  base: string;
  worktree: string;
}
export interface Graph {
  digest: string;
  phases: Phase[];
  nodes: GraphNode[];
  critical: string[];
}
export interface Phase {
  key: string;
  title: string;
}
export interface GraphNode {
  key: string;
  title: string;
  phase: string;
  kind: string;
  after: GraphEdge[];
}
export interface GraphEdge {
  key: string;
  type: string;
}
export interface Inbox {
  items: InboxItem[];
  failures: Failure[];
}
export interface Issue {
  id: string;
  title: string;
  status: string;
  priority: number;
  phase?: string;
  policy_name?: string;
  labels: string[];
  dependencies: IssueEdge[];
  runs: number;
  ralph: IssueOf;
}
export interface IssueEdge {
  id: string;
  type: string;
}
export interface IssueOf {
  epic: string;
  key: string;
  status: string;
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
export interface Left {
  key: string;
  why: string;
}
export interface Log {
  entries: Entry[];
  before: number;
  kinds?: {
    [k: string]: number;
  };
}
export interface Moved {
  key?: string;
  id?: string;
  dir: string;
  why: string;
  files: number;
  bytes: number;
}
export interface MovedJSON {
  id?: string;
  dir: string;
  why: string;
  files: number;
  bytes: number;
}
export interface Next {
  version: number;
  base: string;
  nodes: PlannedJSON[];
  counts: {
    [k: string]: number;
  };
  changes: boolean;
  disk: DiskJSON;
  baseline?: BaselineJSON[];
  proposals?: Proposed[];
  warnings?: string[];
  notes?: string[];
  cannot?: string;
  at_work?: number;
  first?: string[];
  forecast: Forecast | null;
}
export interface PlannedJSON {
  key: string;
  id: string;
  title: string;
  by_hand?: boolean;
  action: string;
  needs?: string;
  cause?: string;
}
export interface Node {
  id: string;
  key: string;
  kind: string;
  done: boolean;
  title: string;
  phase: string;
  section: string;
  goal: string;
  type: string;
  priority: number;
  lane: string;
  labels: null | string[];
  implements: null | string[];
  after: null | Edge[];
  merges: null | string[];
  git: Git;
  scope: Scope;
  tasks: null | Task[];
  acceptance: null | string[];
  policy: string;
  steps: null | Step[];
  limits: NodeLimits;
  complexity: Complexity;
  prompt: null | string[];
  ext: null | {
    [k: string]: unknown;
  };
  digest: NodeDigest;
  hitl?: NodeHITL | null;
  offline?: boolean;
}
export interface Scope {
  owns: null | string[];
  files: null | string[];
  reads: null | string[];
}
export interface Task {
  text: string;
  detail: null | string[];
}
export interface Step {
  name: string;
  agent: string;
  fallback: null | string[];
  why: string;
  capabilities: null | string[];
  model: string;
  access: string;
  session: string;
  note: string;
  gates: null | string[];
  gate_mode: string;
  limits: StepLimits;
  retry: Retry;
  stall: Stall;
  on_failure: string;
  next: string;
  allow_empty: boolean;
  sandbox: string;
  prompt?: null | string[];
}
export interface StepLimits {
  iterations: number;
  attempts: number;
  breaker: number;
  runner_retries: number;
  timeout_ms: number;
}
export interface Retry {
  backoff: string;
  initial_ms: number;
  max_ms: number;
  jitter_percent: number;
}
export interface Stall {
  after_ms: number;
  action: string;
  agent: string;
}
export interface NodeLimits {
  iterations: number;
  attempts: number;
  breaker: number;
  runner_retries: number;
  timeout_ms: number;
  estimate_ms: number;
  deadline: string;
  budget: Budget;
}
export interface NodeDigest {
  work: string;
  judge: string;
}
export interface NodeHITL {
  on_human_message: string;
  idle_cooldown_ms: number;
}
export interface NodeJSON {
  key: string;
  id: string;
  title: string;
  kind: string;
  phase?: string;
  status: string;
  waits_for?: string;
  cause?: string;
  until?: null | string;
  goes_on?: boolean;
  reason?: string;
  blocked_by?: string;
  gate?: string;
  approvers?: string[];
  needs?: string[];
  step?: string;
  doing?: string;
  last_activity?: null | string;
  last_human_message?: null | string;
  since?: null | string;
  started?: null | string;
  ended?: null | string;
  spent: SpentJSON;
  commit?: string;
  tree?: string;
  branch?: string;
  worktree?: string;
  pr?: string;
  pr_url?: string;
  pr_number?: number;
  attempts: AttemptJSON[];
  ways?: Way[];
  next?: NextStep[];
  same_as?: string;
  holds?: HeldJSON[];
  left_out?: LeftOutJSON[];
}
export interface HeldJSON {
  key: string;
  id: string;
  commit: string;
  older?: boolean;
  why?: string;
}
export interface LeftOutJSON {
  key: string;
  done?: boolean;
  why: string;
}
export interface Open {
  code: string;
}
export interface Opened {
  token: string;
}
export interface PastRun {
  started: string;
  ended?: null | string;
  by: string;
  outcome: string;
  counts?: {
    [k: string]: number;
  };
}
export interface Plan {
  file: string;
  lines: string[];
  keys: PlanKey[];
  diagnostics: DiagnosticsJSON;
  cannot?: string;
  stale: boolean;
  changes: Difference | null;
  text?: string;
  command?: string;
}
export interface PlanKey {
  line: number;
  key: string;
  status?: string;
  shown?: string;
  word?: string;
  human?: boolean;
  open?: string;
}
export interface PlanJSON {
  version: number;
  base: string;
  nodes: PlannedJSON[];
  counts: {
    [k: string]: number;
  };
  changes: boolean;
  disk: DiskJSON;
  baseline?: BaselineJSON[];
  proposals?: Proposed[];
  warnings?: string[];
  notes?: string[];
  cannot?: string;
  at_work?: number;
  first?: string[];
}
export interface Proof {
  seq?: number;
  at?: null | string;
  key?: string;
  step?: string;
  attempt?: number;
  file?: string;
  command?: string;
  back?: string;
  bad?: boolean;
  text: string;
}
export interface Range {
  file: string;
  start: number;
  end: number;
}
export interface ReasonJSON {
  field: string;
  value: string;
  origin: string;
  range: Place | null;
}
export interface Repository {
  id: string;
  dir: string;
  name: string;
  epics: EpicLine[];
  trouble?: string[];
}
export interface Result {
  branch?: string;
  commit?: string;
  base?: string;
  note?: string;
  review?: string[];
  take?: string;
  left_out: Left[];
  older: Left[];
  runs: PastRun[];
  moved_out: Moved[];
}
export interface RunEdge {
  from: string;
  to: string;
  type: string;
}
export interface RunGraph {
  runs: AgentRun[];
  edges: RunEdge[];
}
export interface Session {
  version: string;
  user: string;
  read_only: boolean;
  repositories: Repository[];
}
export interface ShowJSON {
  version: number;
  key: string;
  id: string;
  title: string;
  kind: string;
  phase?: string;
  status: string;
  waits_for?: string;
  cause?: string;
  until?: null | string;
  goes_on?: boolean;
  reason?: string;
  blocked_by?: string;
  gate?: string;
  approvers?: string[];
  needs?: string[];
  step?: string;
  doing?: string;
  last_activity?: null | string;
  last_human_message?: null | string;
  since?: null | string;
  started?: null | string;
  ended?: null | string;
  spent: SpentJSON;
  commit?: string;
  tree?: string;
  branch?: string;
  worktree?: string;
  pr?: string;
  pr_url?: string;
  pr_number?: number;
  attempts: AttemptJSON[];
  ways?: Way[];
  next?: NextStep[];
  same_as?: string;
  holds?: HeldJSON[];
  left_out?: LeftOutJSON[];
  spec?: Node | null;
  feedback?: string[];
  decisions?: Decision[];
  refs: string[];
  moved_out?: MovedJSON[];
  plan?: string;
  plan_line?: number;
}
export interface Sprint {
  seq: number;
  moved: number;
  shown: string;
  word: string;
  asks?: string;
  other?: boolean;
  show: ShowJSON;
  after: SprintLine[];
  before: SprintLine[];
  holds: number;
  behind: string[];
  begin: string[];
  offers: Offer[];
  join: Joining[];
  tail: TailOf | null;
  bead?: Bead | null;
}
export interface TailOf {
  step: string;
  attempt: number;
  file: string;
}
export interface Statuses {
  seq: number;
  state: {
    [k: string]: string;
  };
}
export interface TimelinePart {
  kind: string;
  gate?: string;
  start: string;
  end?: null | string;
}
export interface TimelineRow {
  key: string;
  title: string;
  phase: string;
  step: string;
  n: number;
  run: number;
  status: string;
  start: string;
  end?: null | string;
  parts: TimelinePart[];
}
export interface Trust {
  seq: number;
  checks: TrustCheck[];
}
export interface TrustCheck {
  name: string;
  title: string;
  state: string;
  text: string;
  proofs: Proof[];
  more?: number;
}
export interface WhyJSON {
  key: string;
  reasons: ReasonJSON[];
}
