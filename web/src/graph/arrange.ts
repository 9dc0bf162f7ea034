// Puts boxes that need each other into columns: what follows stands to the right, and a
// line of columns that gets too wide goes on below, like text.

export interface Size {
  wide: number;
  high: number;
}
export type Link = readonly [from: number, to: number]; // places in the list of boxes
export interface Point {
  x: number;
  y: number;
}
export interface Spot extends Point {
  line: number; // of columns, from the top
}
export interface Arranged {
  spots: Spot[]; // upper left corners
  bends: Map<string, Point[]>; // of links over several columns, by bendOf
  tops: number[]; // y of each line
  wide: number;
  high: number;
}
export interface Gaps {
  x: number;
  y: number;
  line: number;
}

const thin = 8; // px; the height that a link takes in the columns that it passes
const farthest = 24; // columns that a link passes and still has a way of its own
const mostPassing = 24; // links with a way of their own in a column; short ones come first
const sweeps = 6;
const widest = 3600; // px of a line
const narrowest = 900;
const short = 1150; // px; what is not wider stays in one line
const shape = 1.6; // width to height that is aimed at

export const bendOf = (from: number, to: number): string => `${from} ${to}`;

// Cell is a box in its column, or a link that passes there.
interface Cell {
  of: number; // box; -1: a link
  wide: number;
  high: number;
  before: Cell[];
  after: Cell[];
  at: number; // in its column
  line: number;
  x: number;
  y: number;
}

export function arrange(sizes: Size[], links: Link[], gaps: Gaps): Arranged {
  const forward = breakCircles(sizes.length, links);
  const ranks = ranksOf(sizes.length, forward);
  const cells = sizes.map((s, of): Cell => ({ of, ...s, before: [], after: [], at: 0, line: 0, x: 0, y: 0 }));
  const columns: Cell[][] = Array.from({ length: Math.max(0, ...ranks) + 1 }, () => []);
  cells.forEach((c, i) => columns[ranks[i] ?? 0]?.push(c));
  const passing = pass(cells, ranks, columns, forward);
  order(columns);
  const lines = wrap(split(columns, gaps), gaps);
  const { tops, wide, high } = settle(lines, gaps);
  const bends = new Map<string, Point[]>();
  for (const [link, way] of passing) {
    const [from, to] = [cells[link[0]], cells[link[1]]];
    if (from?.line !== to?.line) continue;
    bends.set(bendOf(...link), way.flatMap((c) => [{ x: c.x, y: c.y + thin / 2 }, { x: c.x + c.wide, y: c.y + thin / 2 }]));
  }
  return { spots: cells.map((c) => ({ x: c.x, y: c.y, line: c.line })), bends, tops, wide, high };
}

// breakCircles leaves out the links of circles that go against the order of the list.
export function breakCircles(n: number, links: Link[]): Link[] {
  const ring = rings(n, links);
  const seen = new Set<number>();
  return links.filter(([from, to]) => {
    if (from === to || (ring[from] === ring[to] && from > to) || seen.has(from * n + to)) return false;
    seen.add(from * n + to);
    return true;
  });
}

// rings are the strongly connected components, by Tarjan, without recursion.
function rings(n: number, links: Link[]): number[] {
  const out = outs(n, links);
  const ring = new Array<number>(n).fill(-1);
  const num = new Array<number>(n).fill(-1);
  const low = new Array<number>(n).fill(0);
  const next = new Array<number>(n).fill(0);
  const stack: number[] = [];
  let count = 0;
  let found = 0;
  for (let root = 0; root < n; root++) {
    if (num[root] !== -1) continue;
    const path = [root];
    while (path.length > 0) {
      const v = path[path.length - 1] as number;
      if (num[v] === -1) {
        num[v] = low[v] = count++;
        stack.push(v);
      }
      const w = out[v]?.[next[v] as number];
      if (w === undefined) {
        path.pop();
        if (low[v] === num[v]) {
          for (let x = -1; x !== v; ) {
            x = stack.pop() as number;
            ring[x] = found;
          }
          found++;
        }
        const up = path[path.length - 1];
        if (up !== undefined && ring[v] === -1) low[up] = Math.min(low[up] as number, low[v] as number);
        continue;
      }
      next[v] = (next[v] as number) + 1;
      if (num[w] === -1) path.push(w);
      else if (ring[w] === -1) low[v] = Math.min(low[v] as number, num[w] as number);
    }
  }
  return ring;
}

function outs(n: number, links: Link[]): number[][] {
  const out: number[][] = Array.from({ length: n }, () => []);
  for (const [from, to] of links) out[from]?.push(to);
  return out;
}

// ranksOf are the waves: the longest way from a box that needs none.
function ranksOf(n: number, links: Link[]): number[] {
  const out = outs(n, links);
  const needs = new Array<number>(n).fill(0);
  for (const [, to] of links) needs[to] = (needs[to] ?? 0) + 1;
  const ranks = new Array<number>(n).fill(0);
  const free = needs.flatMap((k, i) => (k === 0 ? [i] : []));
  for (let i = 0; i < free.length; i++) {
    const v = free[i] as number;
    for (const w of out[v] ?? []) {
      ranks[w] = Math.max(ranks[w] ?? 0, (ranks[v] ?? 0) + 1);
      needs[w] = (needs[w] ?? 0) - 1;
      if (needs[w] === 0) free.push(w);
    }
  }
  return ranks;
}

// pass joins the cells of links, and gives long ones a thin cell in each column between.
function pass(cells: Cell[], ranks: number[], columns: Cell[][], links: Link[]): Map<Link, Cell[]> {
  const ways = new Map<Link, Cell[]>();
  const passing = columns.map(() => 0);
  const span = ([from, to]: Link) => (ranks[to] ?? 0) - (ranks[from] ?? 0);
  for (const link of links.toSorted((a, b) => span(a) - span(b))) {
    let from = cells[link[0]] as Cell;
    const to = cells[link[1]] as Cell;
    const [first, last] = [ranks[link[0]] ?? 0, ranks[link[1]] ?? 0];
    if (last - first > 1 && last - first <= farthest && passing.slice(first + 1, last).every((n) => n < mostPassing)) {
      const way: Cell[] = [];
      for (let r = first + 1; r < last; r++) {
        const c: Cell = { of: -1, wide: 0, high: thin, before: [from], after: [], at: 0, line: 0, x: 0, y: 0 };
        from.after.push(c);
        columns[r]?.push(c);
        passing[r] = (passing[r] ?? 0) + 1;
        way.push(c);
        from = c;
      }
      ways.set(link, way);
    }
    from.after.push(to);
    to.before.push(from);
  }
  return ways;
}

// order moves each cell towards the middle of what it is joined with, so that few links
// cross.
function order(columns: Cell[][]): void {
  const number = (column: Cell[]) => column.forEach((c, i) => (c.at = i));
  columns.forEach(number);
  for (let sweep = 0; sweep < sweeps; sweep++) {
    const down = sweep % 2 === 0;
    for (const column of down ? columns : columns.toReversed()) {
      const middle = new Map(column.map((c) => [c, mean(down ? c.before : c.after, (o) => o.at) ?? c.at]));
      column.sort((a, b) => (middle.get(a) ?? 0) - (middle.get(b) ?? 0) || a.at - b.at);
      number(column);
    }
  }
}

function mean<T>(list: T[], of: (x: T) => number): number | undefined {
  if (list.length === 0) return undefined;
  return list.reduce((sum, x) => sum + of(x), 0) / list.length;
}

// below is the gap below a cell.
const below = (c: Cell, gaps: Gaps): number => (c.of < 0 ? gaps.y / 4 : gaps.y);
const highOf = (column: Cell[], gaps: Gaps): number => column.reduce((h, c) => h + c.high + below(c, gaps), 0);
const wideOf = (column: Cell[]): number => column.reduce((w, c) => Math.max(w, c.wide), 0);

// breadthOf is how wide lines may be, so that all of it is about as wide as a screen.
function breadthOf(columns: Cell[][], gaps: Gaps): number {
  const area = columns.reduce((sum, c) => sum + (wideOf(c) + gaps.x) * (highOf(c, gaps) + gaps.line), 0);
  const one = columns.reduce((w, c) => Math.max(w, wideOf(c)), 0);
  const whole = columns.reduce((w, c) => w + wideOf(c) + gaps.x, -gaps.x);
  if (whole <= short) return Math.max(one, short);
  return Math.max(one, Math.min(widest, Math.max(narrowest, Math.sqrt(area * shape))));
}

// split makes several columns of one that is too high.
function split(columns: Cell[][], gaps: Gaps): Cell[][] {
  const highest = Math.max(breadthOf(columns, gaps) / shape, 400);
  return columns.flatMap((column) => {
    if (highOf(column, gaps) <= highest) return [column];
    const parts: Cell[][] = [];
    let high = Infinity;
    for (const c of column) {
      if (high + c.high > highest) {
        parts.push([]);
        high = 0;
      }
      parts[parts.length - 1]?.push(c);
      high += c.high + below(c, gaps);
    }
    return parts;
  });
}

function wrap(columns: Cell[][], gaps: Gaps): Cell[][][] {
  const breadth = breadthOf(columns, gaps);
  const lines: Cell[][][] = [];
  let x = Infinity;
  for (const column of columns) {
    const wide = wideOf(column);
    if (x + wide > breadth) {
      lines.push([]);
      x = 0;
    }
    for (const c of column) {
      c.line = lines.length - 1;
      c.x = x;
      if (c.of < 0) c.wide = wide;
    }
    lines[lines.length - 1]?.push(column);
    x += wide + gaps.x;
  }
  return lines;
}

// settle gives all cells their y: each beside what it follows, as far as the others let it.
function settle(lines: Cell[][][], gaps: Gaps): { tops: number[]; wide: number; high: number } {
  const tops: number[] = [];
  let top = 0;
  let right = 0;
  for (const [n, line] of lines.entries()) {
    for (const column of line) {
      stack(column, n, gaps);
      right = Math.max(right, (column[0]?.x ?? 0) + wideOf(column));
    }
    const all = line.flat();
    const least = all.reduce((y, c) => Math.min(y, c.y), Infinity);
    for (const c of all) c.y += top - least;
    tops.push(top);
    top = all.reduce((y, c) => Math.max(y, c.y + c.high), top) + gaps.line;
  }
  return { tops, wide: right, high: Math.max(0, top - gaps.line) };
}

function stack(column: Cell[], line: number, gaps: Gaps): void {
  let y = -highOf(column, gaps) / 2;
  const wished: number[] = [];
  for (const c of column) {
    const beside = mean(c.before.filter((b) => b.line === line && b.x < c.x), (b) => b.y + b.high / 2);
    wished.push(beside === undefined ? y : beside - c.high / 2);
    y += c.high + below(c, gaps);
  }
  y = -Infinity;
  column.forEach((c, i) => {
    c.y = Math.max(wished[i] ?? 0, y);
    y = c.y + c.high + below(c, gaps);
  });
  const over = column.reduce((sum, c, i) => sum + c.y - (wished[i] ?? 0), 0) / Math.max(1, column.length);
  for (const c of column) c.y = Math.round(c.y - over);
}
