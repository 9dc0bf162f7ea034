// Places runs: what follows stands to the right, the runs of a sprint in one row.
import type { AgentRun, RunEdge } from "./api";

export const box = { wide: 212, high: 46, right: 36, below: 14, margin: 8 };

export interface Placed {
  run: AgentRun;
  column: number;
  row: number;
  x: number;
  y: number;
}

export interface Drawn {
  boxes: Placed[];
  edges: { from: Placed; to: Placed; type: string }[];
  width: number;
  height: number;
}

// layout takes runs oldest first: an edge to an older run would be a circle, and is left out.
export function layout(runs: AgentRun[], edges: RunEdge[]): Drawn {
  const order = new Map(runs.map((r, i) => [r.id, i]));
  const forward = edges.filter((e) => (order.get(e.from) ?? Infinity) < (order.get(e.to) ?? -1));
  const columns = columnsOf(runs, forward);
  const rows = rowsOf(runs, columns, forward);
  const boxes = runs.map((run) => {
    const column = columns.get(run.id) ?? 0;
    const row = rows.get(run.key) ?? 0;
    return { run, column, row, x: box.margin + column * (box.wide + box.right), y: box.margin + row * (box.high + box.below) };
  });
  const at = new Map(boxes.map((b) => [b.run.id, b]));
  const drawn = forward.flatMap((e) => {
    const from = at.get(e.from);
    const to = at.get(e.to);
    return from && to ? [{ from, to, type: e.type }] : [];
  });
  const far = (of: (b: Placed) => number) => boxes.reduce((n, b) => Math.max(n, of(b)), 0);
  return { boxes, edges: drawn, width: far((b) => b.x) + box.wide + box.margin, height: far((b) => b.y) + box.high + box.margin };
}

function columnsOf(runs: AgentRun[], edges: RunEdge[]): Map<string, number> {
  const before = new Map<string, string[]>();
  for (const e of edges) before.set(e.to, [...(before.get(e.to) ?? []), e.from]);
  const columns = new Map<string, number>();
  const last = new Map<string, number>(); // column of a sprint's last run
  for (const r of runs) {
    let column = (last.get(r.key) ?? -1) + 1;
    for (const from of before.get(r.id) ?? []) column = Math.max(column, (columns.get(from) ?? -1) + 1);
    if (r.step === "integrate" && !before.has(r.id)) column = Math.max(column, ...endedBefore(runs, r).map((o) => (columns.get(o.id) ?? -1) + 1));
    columns.set(r.id, column);
    last.set(r.key, column);
  }
  return columns;
}

// endedBefore are the runs that a joining of results may hold.
const endedBefore = (runs: AgentRun[], r: AgentRun): AgentRun[] => runs.filter((o) => o.ended && r.started && o.id !== r.id && o.ended <= r.started);

// rowsOf gives each sprint a row of its own while it needs it: first one in which something
// that it follows stands, else any that is free, else a new one.
function rowsOf(runs: AgentRun[], columns: Map<string, number>, edges: RunEdge[]): Map<string, number> {
  const keyOf = new Map(runs.map((r) => [r.id, r.key]));
  const span = new Map<string, { first: number; last: number }>();
  for (const r of runs) {
    const c = columns.get(r.id) ?? 0;
    const s = span.get(r.key);
    span.set(r.key, { first: Math.min(c, s?.first ?? c), last: Math.max(c, s?.last ?? c) });
  }
  const follows = new Map<string, string[]>();
  for (const e of edges) {
    const from = keyOf.get(e.from) ?? "";
    const to = keyOf.get(e.to) ?? "";
    if (from !== to) follows.set(to, [...(follows.get(to) ?? []), from]);
  }
  const rows = new Map<string, number>();
  const until: number[] = []; // last column in use, by row
  const sorted = [...span].sort(([, a], [, b]) => a.first - b.first);
  for (const [key, { first, last }] of sorted) {
    const free = (row: number) => (until[row] ?? -1) < first;
    const near = (follows.get(key) ?? []).map((k) => rows.get(k) ?? -1).filter((row) => row >= 0 && free(row));
    let row = near.length > 0 ? Math.min(...near) : until.findIndex((_, i) => free(i));
    if (row < 0) row = until.length;
    until[row] = last;
    rows.set(key, row);
  }
  return rows;
}
