// The picture of an epic: groups of sprints as boxes, those of open ones inside them.
import { arrange, bendOf, type Arranged, type Link, type Point } from "./arrange";

// Shape is what the layout has to know of an epic. Sprints are numbers.
export interface Shape {
  group: number[]; // of each sprint
  groups: number; // how many there are
  links: (readonly [from: number, to: number, soft: 0 | 1])[];
}

export interface Ask {
  open: number[]; // groups
  only: number[] | null; // sprints that are shown; null: all
}

export interface Box {
  id: string; // idOf
  group: number;
  sprint: number; // -1: the box of a group
  open: boolean; // a group whose sprints are inside
  x: number;
  y: number;
  wide: number;
  high: number;
}

export interface Line {
  from: string;
  to: string;
  soft: boolean;
  away: boolean; // it leads to another line of columns, or back
  sprints: (readonly [number, number])[]; // that it stands for
  d: string;
}

export interface Placed {
  boxes: Box[];
  lines: Line[];
  wide: number;
  high: number;
}

export const sprintID = (sprint: number): string => `s${sprint}`;
export const groupID = (group: number): string => `g${group}`;

export const sprintSize = { wide: 184, high: 46 };
export const head = 32;
const pad = 12;
export const cell = 9; // px, with its gap
export const cellsInRow = 20;
const shutWide = cellsInRow * cell + 2 * pad;
const inner = { x: 40, y: 12, line: 34 };
const outer = { x: 56, y: 20, line: 48 };

export const shutHigh = (sprints: number): number => head + Math.ceil(sprints / cellsInRow) * cell + pad;

interface Group {
  group: number;
  sprints: number[];
  inside: Arranged | null; // of an open one
  wide: number;
  high: number;
}

export function place(shape: Shape, ask: Ask): Placed {
  const groups = groupsOf(shape, ask);
  const index = new Map(groups.map((g, i) => [g.group, i]));
  const shown = ask.only && new Set(ask.only);
  const links = shape.links.filter(([from, to]) => !shown || (shown.has(from) && shown.has(to)));
  const between = links.flatMap(([from, to, soft]): Link[] => {
    const [a, b] = [index.get(shape.group[from] ?? -1), index.get(shape.group[to] ?? -1)];
    return a === undefined || b === undefined || a === b || soft ? [] : [[a, b]];
  });
  const all = arrange(groups, between, outer);
  const boxes = boxesOf(groups, all);
  return { boxes, lines: linesOf(shape, links, groups, index, all, boxes), wide: all.wide, high: all.high };
}

function groupsOf(shape: Shape, ask: Ask): Group[] {
  const sprints: number[][] = Array.from({ length: shape.groups }, () => []);
  for (const s of ask.only?.toSorted((a, b) => a - b) ?? shape.group.keys()) sprints[shape.group[s] ?? -1]?.push(s);
  const open = new Set(ask.open);
  const inGroup = new Map<number, Link[]>();
  const at = new Map(sprints.flatMap((list) => list.map((s, i) => [s, i] as const)));
  for (const [from, to, soft] of shape.links) {
    const g = shape.group[from] ?? -1;
    const [a, b] = [at.get(from), at.get(to)];
    if (soft || g !== shape.group[to] || !open.has(g) || a === undefined || b === undefined) continue;
    const list = inGroup.get(g);
    if (list) list.push([a, b]);
    else inGroup.set(g, [[a, b]]);
  }
  return sprints.flatMap((list, group): Group[] => {
    if (list.length === 0) return [];
    if (!open.has(group)) return [{ group, sprints: list, inside: null, wide: shutWide, high: shutHigh(list.length) }];
    const inside = arrange(list.map(() => sprintSize), inGroup.get(group) ?? [], inner);
    return [{ group, sprints: list, inside, wide: inside.wide + 2 * pad, high: inside.high + head + pad }];
  });
}

function boxesOf(groups: Group[], all: Arranged): Box[] {
  return groups.flatMap((g, i) => {
    const { x = 0, y = 0 } = all.spots[i] ?? {};
    const own: Box = { id: groupID(g.group), group: g.group, sprint: -1, open: g.inside !== null, x, y, wide: g.wide, high: g.high };
    const sprints = (g.inside?.spots ?? []).map((s, at): Box => {
      const sprint = g.sprints[at] ?? -1;
      return { id: sprintID(sprint), group: g.group, sprint, open: false, x: x + pad + s.x, y: y + head + s.y, ...sprintSize };
    });
    return [own, ...sprints];
  });
}

interface End {
  box: Box;
  of: number; // place of its group in the list
  at: number; // place of the sprint in the group; -1: the group itself
}

function linesOf(shape: Shape, links: Shape["links"], groups: Group[], index: Map<number, number>, all: Arranged, boxes: Box[]): Line[] {
  const byID = new Map(boxes.map((b) => [b.id, b]));
  const atIn = new Map(groups.flatMap((g) => (g.inside ? g.sprints.map((s, i) => [s, i] as const) : [])));
  const end = (sprint: number): End | undefined => {
    const of = index.get(shape.group[sprint] ?? -1);
    const at = atIn.get(sprint);
    const box = byID.get(at === undefined ? groupID(shape.group[sprint] ?? -1) : sprintID(sprint));
    return of === undefined || !box ? undefined : { box, of, at: at ?? -1 };
  };
  const drawn = new Map<string, Line>();
  for (const [from, to, soft] of links) {
    const [a, b] = [end(from), end(to)];
    if (!a || !b || a.box === b.box) continue;
    const id = `${a.box.id} ${b.box.id} ${soft}`;
    const known = drawn.get(id);
    if (known) known.sprints.push([from, to]);
    else drawn.set(id, { from: a.box.id, to: b.box.id, soft: soft === 1, sprints: [[from, to]], ...way(a, b, groups, all) });
  }
  return [...drawn.values()];
}

// way is how a line runs: through the columns between, or round by the gap above the line
// of columns that it leads to.
function way(a: End, b: End, groups: Group[], all: Arranged): { d: string; away: boolean } {
  const from = { x: a.box.x + a.box.wide, y: a.box.y + a.box.high / 2 };
  const to = { x: b.box.x, y: b.box.y + b.box.high / 2 };
  const same = a.of === b.of;
  const level = same ? (groups[a.of]?.inside ?? all) : all;
  const [i, j] = same ? [a.at, b.at] : [a.of, b.of];
  const shift = same ? { x: b.box.x - (level.spots[j]?.x ?? 0), y: b.box.y - (level.spots[j]?.y ?? 0) } : { x: 0, y: 0 };
  if (level.spots[i]?.line === level.spots[j]?.line && from.x < to.x) {
    const bends = (level.bends.get(bendOf(i, j)) ?? []).map((p) => ({ x: p.x + shift.x, y: p.y + shift.y }));
    if (!same) {
      const [out, into] = [below(a, "right", groups, all), below(b, "left", groups, all)];
      const d = curve([out ?? from, ...bends, into ?? to]);
      const begin = out ? `M${r(from.x)} ${r(from.y)}h10V${r(out.y)}H${r(out.x)}${d.replace(/^M\S+ [\d.-]+/, "")}` : d;
      return { d: into ? `${begin}H${r(to.x - 10)}V${r(to.y)}H${r(to.x)}` : begin, away: false };
    }
    const far = bends.length === 0 && to.x - from.x > 1000; // behind whatever stands between
    return { d: curve([from, ...bends, to]), away: far };
  }
  const gap = (same ? inner : outer).line / 2;
  const y = (level.tops[level.spots[j]?.line ?? 0] ?? 0) + shift.y - gap;
  return { d: `M${r(from.x)} ${r(from.y)}h10V${r(y)}H${r(to.x - 10)}V${r(to.y)}H${r(to.x)}`, away: true };
}

// below is where a line leaves a group, or comes into it, below its sprints: there are others
// between the end and that side of the group, and it would seem to be theirs.
function below(of: End, side: "left" | "right", groups: Group[], all: Arranged): Point | undefined {
  const [group, spot] = [groups[of.of], all.spots[of.of]];
  const own = group?.inside?.spots[of.at];
  if (!group || !spot || !own) return undefined;
  const between = group.inside?.spots.some((s) => (side === "right" ? s.x > own.x : s.x < own.x));
  if (!between) return undefined;
  return { x: side === "right" ? spot.x + group.wide : spot.x, y: spot.y + group.high - pad / 2 };
}

const r = Math.round;

// curve leaves and reaches each point level.
function curve(points: Point[]): string {
  let d = "";
  let last: Point | undefined;
  for (const p of points) {
    if (!last) d = `M${r(p.x)} ${r(p.y)}`;
    else if (Math.abs(last.y - p.y) < 1) d += `H${r(p.x)}`;
    else {
      const middle = r((last.x + p.x) / 2);
      d += `C${middle} ${r(last.y)} ${middle} ${r(p.y)} ${r(p.x)} ${r(p.y)}`;
    }
    last = p;
  }
  return d;
}
