// Timeline: when each sprint was at work, and at what.
import { memo, useMemo, useState } from "react";
import { WindowVirtualizer } from "virtua";
import type { Graph, Statuses, TimelineRow } from "../api";
import { Loaded, Status, Title, useNow } from "../parts/basics";
import { EpicTabs, useEpicLine } from "../parts/epictabs";
import { matches } from "../parts/find";
import { atWork } from "../parts/slots";
import { useResource } from "../resource";
import { api, to } from "../route";
import { axisOf, breadth, ticksOf, type Axis, type Span } from "../time/axis";
import { nightOf, runsOf, worked, type Attempt, type Night, type Part, type PhaseRow, type SprintRow } from "../time/rows";
import "../time/time.css";
import { clock, count, each, lasted, type Need, needOfState, phaseName, tone, whole } from "../words";

const many = 300; // sprints; with more of them, phases begin shut
const plainly = 200; // rows that are drawn without looking whether they are in sight

export function TimePage({ epic }: { epic: string }) {
  const e = useEpicLine(epic);
  const answer = useResource<TimelineRow[]>(api.timeline(epic));
  return (
    <>
      <Title short text={e ? `Timeline: ${e.title}` : "Timeline"} />
      <EpicTabs epic={epic} at="Timeline" />
      <Loaded of={answer} what="The timeline">
        {(rows) => (each(rows).length > 0 ? <View key={epic} epic={epic} rows={each(rows)} atWork={e === undefined || atWork(e.run)} /> : <p>No agent has run yet.</p>)}
      </Loaded>
    </>
  );
}

function View({ epic, rows, atWork }: { epic: string; rows: TimelineRow[]; atWork: boolean }) {
  const runs = useMemo(() => runsOf(rows), [rows]);
  const [asked, setRun] = useState(0);
  const [text, setText] = useState("");
  const [turned, setTurned] = useState<ReadonlySet<string>>(new Set()); // phases that are not as they began
  const run = runs.includes(asked) ? asked : (runs[runs.length - 1] ?? 0);
  const tick = useNow((t) => Math.floor(t / 5000) * 5000);
  const still = useMemo(() => rows.every((r) => r.end && each(r.parts).every((p) => p.end)), [rows]);
  const now = still ? 0 : tick;
  const night = useMemo(() => nightOf(rows, run, now, atWork), [rows, run, now, atWork]);
  const axis = useMemo(() => axisOf(text ? workOf(night, text) : night.busy), [night, text]);
  const titles = useTitles(epic);
  const state = useResource<Statuses>(api.status(epic)).data?.state;
  const needOf = (s: SprintRow) => needOfState(state?.[s.key]);
  const shut = (key: string) => text === "" && turned.has(key) !== night.sprints > many;
  const turn = (key: string) => setTurned((s) => (s.has(key) ? new Set([...s].filter((k) => k !== key)) : new Set([...s, key])));
  const lines = night.phases.flatMap((p) => {
    const sprints = p.sprints.filter((s) => matches(text, s.key, s.title));
    if (sprints.length === 0) return [];
    const head = <PhaseLine key={`p ${p.key}`} phase={p} name={phaseName(p.key, titles.get(p.key) ?? "")} axis={axis} shut={shut(p.key)} turn={turn} need={shut(p.key) ? worst(p.sprints.map(needOf)) : ""} />;
    return shut(p.key) ? [head] : [head, ...sprints.map((s) => <SprintLine key={`s ${s.key}`} epic={epic} sprint={s} axis={axis} need={needOf(s)} />)];
  });
  return (
    <>
      <div className="filter">
        <input id="find" type="search" aria-label="Find a sprint" placeholder="find by key or title" value={text} onChange={(x) => setText(x.target.value)} />
        {runs.length > 1 && (
          <select aria-label="Run" value={run} onChange={(x) => setRun(Number(x.target.value))}>
            {runs.map((r) => (
              <option key={r} value={r}>
                run {r} of {runs[runs.length - 1]}
              </option>
            ))}
          </select>
        )}
        <span className="faint">
          {count(night.attempts, "attempt")} of {count(night.sprints, "sprint")}, {lasted(axis.segments.reduce((sum, s) => sum + s.to - s.from, 0))}
          {axis.cuts.length > 0 && " without what was idle"}
        </span>
      </div>
      <Legend />
      <AxisLine axis={axis} />
      {lines.length === 0 && <p className="faint">No sprint is like that.</p>}
      <div className="timerows">{lines.length > plainly ? <WindowVirtualizer>{lines}</WindowVirtualizer> : lines}</div>
    </>
  );
}

// workOf is when what is found was at work: the axis shows only that.
const workOf = (night: Night, text: string): Span[] =>
  night.phases.flatMap((p) => p.sprints.filter((s) => matches(text, s.key, s.title)).flatMap((s) => s.attempts.flatMap((a) => a.parts.filter((x) => x.kind !== "wait"))));

function useTitles(epic: string): Map<string, string> {
  const graph = useResource<Graph>(api.graph(epic), true).data;
  return useMemo(() => new Map(each(graph?.phases).map((p) => [p.key, p.title])), [graph]);
}

const kinds: [string, string][] = [
  ["agent", "agent"],
  ["gate-pass", "gate passed"],
  ["gate-fail", "gate failed"],
  ["gate", "gate at work"],
  ["setup", "setup"],
  ["wait", "waits"],
];

function Legend() {
  return (
    <p className="legend faint">
      {kinds.map(([kind, name]) => (
        <span key={kind}>
          <svg width="22" height="14" viewBox="0 0 22 14" aria-hidden="true">
            <Rect kind={kind} x={0} wide={22} scale={14 / 18} />
          </svg>{" "}
          {name}
        </span>
      ))}
    </p>
  );
}

function AxisLine({ axis }: { axis: Axis }) {
  const now = useNow((t) => Math.floor(t / 60_000) * 60_000);
  const ticks = useMemo(() => ticksOf(axis, -new Date(axis.segments[0]?.from ?? 0).getTimezoneOffset() * 60_000), [axis]);
  const seconds = ticks.some((t) => t.time % 60_000 !== 0);
  const short = (t: number, i: number) => {
    const whole = clock(new Date(t).toISOString(), now, seconds).replace(/^\d{4}-/, "");
    const before = ticks[i - 1];
    return before && new Date(before.time).getDate() === new Date(t).getDate() ? whole.slice(seconds ? -8 : -5) : whole;
  };
  return (
    <div className="timeline axis" aria-hidden="true">
      <span className="what" />
      <div className="track">
        {ticks.map((t, i) => (
          <span key={t.time} className="tick" style={{ left: `${t.at / 10}%` }}>
            {short(t.time, i)}
          </span>
        ))}
        {axis.cuts.length <= 12 &&
          axis.cuts.map((c) => (
            <span key={c.from} className="cut" style={{ left: `${c.at / 10}%` }} title={`${lasted(c.to - c.from)} in which nothing was at work`}>
              ⫽
            </span>
          ))}
      </div>
      <span className="took" />
    </div>
  );
}

interface PhaseOf {
  phase: PhaseRow;
  name: string;
  axis: Axis;
  shut: boolean;
  turn: (key: string) => void;
  need: Need | ""; // of a sprint that it hides
}

const worst = (needs: (Need | "")[]): Need | "" => (needs.includes("waits") ? "waits" : needs.includes("failed") ? "failed" : "");

function PhaseLine({ phase, name, axis, shut, turn, need }: PhaseOf) {
  const attempts = phase.sprints.flatMap((s) => s.attempts);
  const failed = phase.sprints.filter((s) => tone(s.attempts[s.attempts.length - 1]?.status ?? "") === "bad").length;
  return (
    <div className="timeline phaseline">
      <button type="button" className="what" data-row="" data-need={need} title={name} aria-expanded={!shut} onClick={() => turn(phase.key)}>
        <span aria-hidden="true">{shut ? "▸" : "▾"}</span> <span className="title">{name}</span>
        {failed > 0 && <Status status="failed" word={`${whole(failed)} failed`} />}
      </button>
      <Track axis={axis} attempts={attempts} merged />
      <span className="took">{count(phase.sprints.length, "sprint")}</span>
    </div>
  );
}

const SprintLine = memo(function SprintLine({ epic, sprint: s, axis, need }: { epic: string; sprint: SprintRow; axis: Axis; need: Need | "" }) {
  const last = s.attempts[s.attempts.length - 1];
  const now = useNow((t) => Math.floor(t / 60_000) * 60_000);
  return (
    <div className="timeline">
      <a href={to.sprint(epic, s.key, "attempts")} className="what" data-row="" data-need={need} title={said(s, now)}>
        <Status status={last?.status ?? ""} short /> <span className="key">{s.key}</span> <span className="title">{s.title}</span>
      </a>
      <Track axis={axis} attempts={s.attempts} />
      <span className="took">
        {lasted(worked(s.attempts))}
        {s.attempts.length > 1 && <span className="faint"> · {s.attempts.length}×</span>}
      </span>
    </div>
  );
});

// said is a row in words.
function said(s: SprintRow, now: number): string {
  const attempts = s.attempts.map((a) => `${a.step} #${a.number}: ${a.status}, ${clock(new Date(a.from).toISOString(), now)}, ${lasted(worked([a]))}${gates(a)}`);
  return [`${s.key} ${s.title}`, ...attempts].join("\n");
}

const gates = (a: Attempt): string => a.parts.filter((p) => p.gate).map((p) => `; ${p.gate} ${p.kind.split(":")[1] ?? "at work"}`).join("");

// Track is the bars of attempts; merged, those of a whole phase, without what waits.
function Track({ axis, attempts, merged }: { axis: Axis; attempts: Attempt[]; merged?: boolean }) {
  return (
    <svg className="track" viewBox={`0 0 ${breadth} 18`} preserveAspectRatio="none" aria-hidden="true">
      {axis.cuts.length <= 40 && axis.cuts.map((c) => <line key={c.from} className="cutline" x1={c.at} x2={c.at} y1={0} y2={18} />)}
      {merged ? <Merged axis={axis} attempts={attempts} /> : attempts.map((a) => <Bars key={`${a.step} ${a.number} ${a.from}`} axis={axis} attempt={a} />)}
    </svg>
  );
}

function Merged({ axis, attempts }: { axis: Axis; attempts: Attempt[] }) {
  const parts = attempts.flatMap((a) => a.parts.filter((p) => p.kind !== "wait"));
  const { segments } = axisOf(parts);
  const failed = parts.filter((p) => p.kind === "gate:fail");
  return (
    <>
      {segments.map((s) => (
        <Rect key={s.from} kind="merged" x={axis.x(s.from)} wide={axis.x(s.to) - axis.x(s.from)} />
      ))}
      {failed.slice(0, 60).map((p) => (
        <Rect key={`${p.from} ${p.gate}`} kind="gate-fail" x={axis.x(p.from)} wide={axis.x(p.to) - axis.x(p.from)} />
      ))}
    </>
  );
}

function Bars({ axis, attempt }: { axis: Axis; attempt: Attempt }) {
  const bar = (p: Part, i: number) => <Rect key={i} kind={p.kind.replace(":", "-")} x={axis.x(p.from)} wide={axis.x(p.to) - axis.x(p.from)} />;
  const start = axis.x(attempt.from);
  return (
    <>
      <line className="begin" x1={start} x2={start} y1={0} y2={18} />
      {attempt.parts.filter((p) => p.kind === "wait").map(bar)}
      {attempt.parts.filter((p) => p.kind !== "wait").map(bar)}
    </>
  );
}

// Each kind has its own height, not only its colour.
const shapes: Record<string, [y: number, high: number]> = {
  agent: [3, 12],
  "gate-pass": [9, 6],
  "gate-fail": [0, 18],
  gate: [9, 6],
  setup: [7, 4],
  wait: [8, 2],
  merged: [6, 6],
};

function Rect({ kind, x, wide, scale = 1 }: { kind: string; x: number; wide: number; scale?: number }) {
  const [y, high] = shapes[kind] ?? [6, 6];
  return <rect className={`part ${kind}`} x={x} width={Math.max(wide, 2.5)} y={y * scale} height={high * scale} />;
}
