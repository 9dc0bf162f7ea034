// The layout of the graph on random epics.
import assert from "node:assert/strict";
import test from "node:test";
import { breakCircles, type Link } from "../src/graph/arrange";
import { groupID, place, sprintID, type Ask, type Box, type Placed, type Shape } from "../src/graph/place";

// random returns numbers below n, the same ones for the same seed.
function random(seed: number): (n: number) => number {
  let s = seed * 2654435761;
  return (n) => {
    s = (s + 0x6d2b79f5) | 0;
    let t = Math.imul(s ^ (s >>> 15), 1 | s);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % n;
  };
}

// epic makes groups at random: sprints only need earlier ones of a hidden order, so that
// groups may need each other in circles although sprints do not.
function epic(next: (n: number) => number): Shape {
  const sprints = 1 + next(120);
  const groups = 1 + next(12);
  const group = Array.from({ length: sprints }, () => next(groups));
  const order = Array.from({ length: sprints }, (_, i) => i).sort(() => next(3) - 1);
  const links: Shape["links"] = [];
  for (let at = 1; at < sprints; at++) {
    for (let n = next(4); n > 0; n--) links.push([order[next(at)] ?? 0, order[at] ?? 0, next(8) === 0 ? 1 : 0]);
  }
  return { group, groups, links };
}

function ask(shape: Shape, next: (n: number) => number): Ask {
  const open = Array.from({ length: shape.groups }, (_, g) => g).filter(() => next(2) === 0);
  const only = next(4) === 0 ? shape.group.flatMap((_, i) => (next(3) === 0 ? [i] : [])) : null;
  return { open, only };
}

const overlap = (a: Box, b: Box): boolean => a.x < b.x + b.wide && b.x < a.x + a.wide && a.y < b.y + b.high && b.y < a.y + a.high;
const holds = (a: Box, b: Box): boolean => a.x <= b.x && a.y <= b.y && a.x + a.wide >= b.x + b.wide && a.y + a.high >= b.y + b.high;

function sound(shape: Shape, { open, only }: Ask, placed: Placed): void {
  const groups = placed.boxes.filter((b) => b.sprint < 0);
  const sprints = placed.boxes.filter((b) => b.sprint >= 0);
  const shown = only ?? shape.group.map((_, i) => i);
  assert.deepEqual(new Set(groups.map((b) => b.group)), new Set(shown.map((s) => shape.group[s])), "each group has a box");
  assert.equal(groups.length, new Set(groups.map((b) => b.id)).size, "and only one");
  assert.deepEqual(sprints.map((b) => b.sprint).sort((a, b) => a - b), shown.filter((s) => open.includes(shape.group[s] ?? -1)).sort((a, b) => a - b), "each sprint of an open group has one");
  for (const list of [groups, sprints]) {
    list.forEach((a, i) => list.slice(i + 1).forEach((b) => assert.ok(!overlap(a, b), `${a.id} lies on ${b.id}`)));
  }
  for (const s of sprints) {
    const around = groups.find((g) => g.group === s.group);
    assert.ok(around && around.open && holds(around, s), `${s.id} lies in its group`);
  }
  for (const b of placed.boxes) assert.ok(b.x >= 0 && b.y >= 0 && b.x + b.wide <= placed.wide && b.y + b.high <= placed.high, `${b.id} lies in the picture`);
}

// joined: each link between two boxes is drawn, by a path of whole numbers.
function joined(shape: Shape, { open, only }: Ask, placed: Placed): void {
  const box = (s: number) => (open.includes(shape.group[s] ?? -1) ? sprintID(s) : groupID(shape.group[s] ?? -1));
  const lines = new Map(placed.lines.map((l) => [`${l.from} ${l.to} ${l.soft}`, l]));
  assert.equal(lines.size, placed.lines.length, "no line twice");
  for (const [from, to, soft] of shape.links) {
    if (only && !(only.includes(from) && only.includes(to))) continue;
    if (box(from) === box(to)) continue;
    const line = lines.get(`${box(from)} ${box(to)} ${soft === 1}`);
    assert.ok(line, `${from} → ${to} is drawn`);
    assert.ok(line.sprints.some(([a, b]) => a === from && b === to), `${from} → ${to} is known to its line`);
    assert.match(line.d, /^M-?\d+ -?\d+([hHVC] ?-?\d+( -?\d+)*)+$/);
  }
}

test("random epics: nothing overlaps, nothing is lost", () => {
  for (let seed = 1; seed <= 300; seed++) {
    const next = random(seed);
    const shape = epic(next);
    const what = ask(shape, next);
    const placed = place(shape, what);
    try {
      sound(shape, what, placed);
      joined(shape, what, placed);
    } catch (e) {
      throw new Error(`seed ${seed}: ${e instanceof Error ? e.message : String(e)}`, { cause: e });
    }
    assert.deepEqual(place(shape, what), placed, `seed ${seed}: the same twice`);
  }
});

test("links go to the right when nothing is a circle and one line is enough", () => {
  const shape: Shape = { group: [0, 0, 0, 0], groups: 1, links: [[0, 1, 0], [0, 2, 0], [1, 3, 0], [2, 3, 0]] };
  const { boxes, lines } = place(shape, { open: [0], only: null });
  const at = new Map(boxes.map((b) => [b.id, b]));
  for (const l of lines) assert.ok((at.get(l.from)?.x ?? 0) + (at.get(l.from)?.wide ?? 0) < (at.get(l.to)?.x ?? 0), `${l.from} → ${l.to}`);
  assert.ok(lines.every((l) => !l.away));
});

// level are the level parts of a path, as [x, x, y].
function level(d: string): [number, number, number][] {
  const out: [number, number, number][] = [];
  let [x, y] = [0, 0];
  for (const [, op, args] of d.matchAll(/([MhHVC])([^MhHVC]*)/g)) {
    const n = (args ?? "").trim().split(/\s+/).map(Number);
    const was = x;
    if (op === "M") [x, y] = [n[0] ?? 0, n[1] ?? 0];
    else if (op === "h") x += n[0] ?? 0;
    else if (op === "H") x = n[0] ?? 0;
    else if (op === "V") y = n[0] ?? 0;
    else [x, y] = [n[4] ?? 0, n[5] ?? 0];
    if (op === "h" || op === "H") out.push([Math.min(was, x), Math.max(was, x), y]);
  }
  return out;
}

test("a line to another group passes behind no sprint", () => {
  for (let seed = 1; seed <= 200; seed++) {
    const next = random(seed);
    const shape = epic(next);
    const { boxes, lines } = place(shape, { open: Array.from({ length: shape.groups }, (_, g) => g), only: null });
    const group = new Map(boxes.map((b) => [b.id, b.group]));
    for (const l of lines) {
      if (l.away || group.get(l.from) === group.get(l.to)) continue;
      for (const b of boxes) {
        if (b.sprint < 0 || b.id === l.from || b.id === l.to || (b.group !== group.get(l.from) && b.group !== group.get(l.to))) continue;
        for (const [x1, x2, y] of level(l.d)) assert.ok(x2 <= b.x || x1 >= b.x + b.wide || y <= b.y || y >= b.y + b.high, `seed ${seed}: ${l.from} to ${l.to} behind ${b.id}`);
      }
    }
  }
  const shop: Shape = { group: [0, 0, 0, 1], groups: 2, links: [[0, 1, 0], [1, 2, 0], [0, 3, 0]] };
  const line = place(shop, { open: [0, 1], only: null }).lines.find((l) => l.from === sprintID(0) && l.to === sprintID(3));
  assert.match(line?.d ?? "", /^M\d+ \d+h10V\d+H/, "it leaves below");
});

test("groups in a circle: 1.2 after 2.1 after 1.1", () => {
  const shape: Shape = { group: [0, 0, 1], groups: 2, links: [[0, 2, 0], [2, 1, 0]] };
  for (const open of [[], [0], [1], [0, 1]]) {
    const what = { open, only: null };
    const placed = place(shape, what);
    sound(shape, what, placed);
    joined(shape, what, placed);
    const [a, b] = placed.boxes.filter((x) => x.sprint < 0).sort((x, y) => x.group - y.group);
    assert.ok(a && b && a.x + a.wide < b.x, "plan order breaks the circle");
  }
});

test("circles are broken by the order of the list, and only there", () => {
  const links: Link[] = [[0, 1], [1, 2], [2, 0], [3, 2], [2, 2], [0, 1]];
  assert.deepEqual(breakCircles(4, links), [[0, 1], [1, 2], [3, 2]]);
  for (let seed = 1; seed <= 200; seed++) {
    const next = random(seed);
    const n = 1 + next(40);
    const all = Array.from({ length: next(120) }, (): Link => [next(n), next(n)]);
    const kept = breakCircles(n, all);
    const needs = new Map(Array.from({ length: n }, (_, i) => [i, new Set(kept.filter((l) => l[1] === i).map((l) => l[0]))]));
    for (let more = true; more; ) {
      more = false;
      for (const [i, of] of needs) {
        if (of.size > 0) continue;
        needs.delete(i);
        more = true;
        for (const o of needs.values()) o.delete(i);
      }
    }
    assert.equal(needs.size, 0, `seed ${seed}: a circle is left`);
  }
});

// chain is a plan as people write it: phases of 19 numbers, one after the other.
function chain(sprints: number): Shape {
  const group = Array.from({ length: sprints }, (_, i) => Math.floor(i / 20));
  return { group, groups: Math.ceil(sprints / 20), links: group.slice(1).map((_, i) => [i, i + 1, 0] as const) };
}

// wide is phases of four waves of five sprints, each phase after one to three earlier ones.
function wide(sprints: number): Shape {
  const next = random(7);
  const group = Array.from({ length: sprints }, (_, i) => Math.floor(i / 20));
  const links: Shape["links"] = [];
  for (let i = 0; i < sprints; i++) {
    const wave = Math.floor((i % 20) / 5);
    if (wave > 0) for (let k = 0; k < 2; k++) links.push([i - (i % 5) - 5 + next(5), i, 0]);
    else if (i >= 20) for (let k = 1 + next(3); k > 0; k--) links.push([next(group[i] ?? 1) * 20 + 15 + next(5), i, 0]);
  }
  return { group, groups: Math.ceil(sprints / 20), links };
}

for (const [name, shape] of [["chain", chain(10_000)], ["wide", wide(10_000)]] as const) {
  test(`10,000 sprints, ${name}`, (t) => {
    for (const [how, open] of [["shut", []], ["30 open", Array.from({ length: 30 }, (_, i) => i * 7)], ["all open", Array.from({ length: 500 }, (_, i) => i)]] as const) {
      const what = { open: [...open], only: null };
      const begun = performance.now();
      const placed = place(shape, what);
      t.diagnostic(`${how}: ${Math.round(performance.now() - begun)} ms, ${placed.wide} × ${Math.round(placed.high)} px, ${placed.lines.length} lines`);
      if (how !== "all open") sound(shape, what, placed);
      assert.equal(placed.boxes.length, 500 + open.length * 20);
    }
  });
}
