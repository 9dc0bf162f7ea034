// The axis of time: hours in which nothing is at work are cut out.

export interface Span {
  from: number; // ms
  to: number;
}
interface Segment extends Span {
  at: number; // place on the axis
  wide: number;
}
export interface Cut extends Span {
  at: number;
}
export interface Axis {
  segments: Segment[];
  cuts: Cut[];
  x: (time: number) => number; // from 0 to breadth
}

export const breadth = 1000;
const cutWide = 14;
const mostCut = 0.3; // of the axis
const shortest = 60_000; // ms; less is no idle time
const idle = 0.03; // of all work

export function axisOf(spans: Span[]): Axis {
  const busy = merge(spans, 0);
  const work = busy.reduce((sum, s) => sum + s.to - s.from, 0);
  const kept = merge(busy, Math.max(shortest, work * idle));
  const all = kept.reduce((sum, s) => sum + s.to - s.from, 0);
  const gap = kept.length > 1 ? Math.min(cutWide, (breadth * mostCut) / (kept.length - 1)) : 0;
  const scale = all > 0 ? (breadth - gap * Math.max(0, kept.length - 1)) / all : 0;
  const segments: Segment[] = [];
  const cuts: Cut[] = [];
  let at = 0;
  for (const s of kept) {
    const last = segments[segments.length - 1];
    if (last) {
      cuts.push({ from: last.to, to: s.from, at: at + gap / 2 });
      at += gap;
    }
    const wide = (s.to - s.from) * scale;
    segments.push({ ...s, at, wide });
    at += wide;
  }
  return { segments, cuts, x: (time) => place(segments, time) };
}

// merge joins spans that are at most so far apart.
function merge(spans: Span[], apart: number): Span[] {
  const out: Span[] = [];
  for (const s of spans.toSorted((a, b) => a.from - b.from)) {
    const last = out[out.length - 1];
    const to = Math.max(s.from, s.to);
    if (last && s.from - last.to <= apart) last.to = Math.max(last.to, to);
    else out.push({ from: s.from, to });
  }
  return out;
}

function place(segments: Segment[], time: number): number {
  let low = 0;
  let high = segments.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (time > (segments[middle]?.to ?? 0)) low = middle + 1;
    else high = middle;
  }
  const s = segments[low];
  if (!s) return 0;
  const part = s.to > s.from ? Math.max(0, Math.min(1, (time - s.from) / (s.to - s.from))) : 0;
  return s.at + part * s.wide;
}

const minute = 60_000;
const hour = 60 * minute;
const steps = [5_000, 10_000, 15_000, 30_000, minute, 2 * minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute, hour, 2 * hour, 4 * hour, 6 * hour, 12 * hour, 24 * hour, 48 * hour, 168 * hour];
const ticks = 8;
const roomy = 70; // between two ticks

// ticksOf are round times that are on the axis; shift is the offset of the clock here, in ms.
export function ticksOf(axis: Axis, shift: number): { time: number; at: number }[] {
  const all = axis.segments.reduce((sum, s) => sum + s.to - s.from, 0);
  const step = steps.find((s) => all / s <= ticks) ?? all / ticks;
  const out: { time: number; at: number }[] = [];
  for (const s of axis.segments) {
    for (let t = Math.ceil((s.from + shift) / step) * step - shift; t <= s.to; t += step) {
      const at = axis.x(t);
      if (at <= breadth - roomy / 2 && at - (out[out.length - 1]?.at ?? -Infinity) >= roomy) out.push({ time: t, at });
    }
  }
  return out;
}
