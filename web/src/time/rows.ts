// The rows of the timeline: sprints by phase, with their attempts in one run.
import type { TimelinePart, TimelineRow } from "../api";
import { each } from "../words";
import type { Span } from "./axis";

export interface Part extends Span {
  kind: string;
  gate: string;
}
export interface Attempt extends Span {
  step: string;
  number: number;
  status: string;
  parts: Part[];
}
export interface SprintRow {
  key: string;
  title: string;
  attempts: Attempt[];
}
export interface PhaseRow {
  key: string;
  sprints: SprintRow[];
}

export interface Night {
  phases: PhaseRow[];
  busy: Span[]; // in which anything is at work
  sprints: number;
  attempts: number;
}

export const runsOf = (rows: TimelineRow[]): number[] => [...new Set(rows.map((r) => r.run))].sort((a, b) => a - b);

export function nightOf(rows: TimelineRow[], run: number, now: number, atWork: boolean): Night {
  const phases = new Map<string, Map<string, SprintRow>>();
  const night: Night = { phases: [], busy: [], sprints: 0, attempts: 0 };
  for (const r of rows) {
    if (r.run !== run) continue;
    const attempt = attemptOf(r, now, atWork);
    const phase = phases.get(r.phase) ?? new Map<string, SprintRow>();
    phases.set(r.phase, phase);
    const sprint = phase.get(r.key) ?? { key: r.key, title: r.title, attempts: [] };
    phase.set(r.key, sprint);
    sprint.attempts.push(attempt);
    night.attempts++;
    const work = attempt.parts.filter((p) => p.kind !== "wait");
    night.busy.push(...(work.length > 0 ? work : [{ from: attempt.from, to: attempt.from }]));
  }
  night.phases = [...phases].map(([key, sprints]) => ({ key, sprints: [...sprints.values()] }));
  night.sprints = night.phases.reduce((n, p) => n + p.sprints.length, 0);
  return night;
}

function attemptOf(r: TimelineRow, now: number, atWork: boolean): Attempt {
  const parts = each(r.parts).map((p) => partOf(p, now));
  const from = Date.parse(r.start);
  const last = parts.reduce((t, p) => Math.max(t, p.to), from);
  return { step: r.step, number: r.n, status: statusOf(r, atWork), from, to: r.end ? Date.parse(r.end) : last, parts };
}

// statusOf is what an attempt does that is not over: it waits, or its process is gone.
function statusOf(r: TimelineRow, atWork: boolean): string {
  if (r.status !== "running") return r.status;
  const open = each(r.parts).filter((p) => !p.end);
  if (open.length > 0 && open.every((p) => p.kind === "wait")) return "waiting";
  return atWork ? "running" : "interrupted";
}

const partOf = (p: TimelinePart, now: number): Part => ({ kind: p.kind, gate: p.gate ?? "", from: Date.parse(p.start), to: p.end ? Date.parse(p.end) : now });

// worked is how long anything was at work in attempts, in ms; gates beside each other count once.
export function worked(attempts: Attempt[]): number {
  let sum = 0;
  let until = 0;
  const parts = attempts.flatMap((a) => a.parts.filter((p) => p.kind !== "wait")).sort((a, b) => a.from - b.from);
  for (const p of parts) {
    sum += Math.max(0, p.to - Math.max(p.from, until));
    until = Math.max(until, p.to);
  }
  return sum;
}
