// An epic as the graph's page looks at it: sprints by number, groups of them, who needs whom.
import type { Graph } from "../api";
import { each } from "../words";
import type { Shape } from "./place";

export interface Sprint {
  key: string;
  title: string;
  group: number;
  before: number[]; // what it needs
  after: number[]; // what needs it
  soft: number[]; // what it is only related to, in either direction
}

// Group is a phase, or a part of one that is very long.
export interface Group {
  key: string;
  title: string;
  sprints: number[];
}

export interface Model {
  sprints: Sprint[];
  groups: Group[];
  number: Map<string, number>; // of a sprint, by its key
  critical: Set<number>;
  shape: Shape;
}

const longest = 150; // sprints of one group

export function modelOf(graph: Graph): Model {
  const nodes = each(graph.nodes);
  const titles = new Map(each(graph.phases).map((p) => [p.key, p.title]));
  const phases = new Map<string, number[]>();
  nodes.forEach((n, i) => {
    const list = phases.get(n.phase);
    if (list) list.push(i);
    else phases.set(n.phase, [i]);
  });
  const groups = [...phases].flatMap(([key, list]) => parts(key, titles.get(key) ?? "", list));
  const group: number[] = [];
  groups.forEach((g, at) => g.sprints.forEach((i) => (group[i] = at)));
  const sprints = nodes.map((n, i): Sprint => ({ key: n.key, title: n.title, group: group[i] ?? 0, before: [], after: [], soft: [] }));
  const number = new Map(nodes.map((n, i) => [n.key, i]));
  const links: Shape["links"] = [];
  nodes.forEach((n, to) => {
    for (const e of each(n.after)) {
      const from = number.get(e.key);
      if (from === undefined || from === to) continue;
      const hard = e.type === "blocks";
      links.push([from, to, hard ? 0 : 1]);
      sprints[to]?.[hard ? "before" : "soft"].push(from);
      sprints[from]?.[hard ? "after" : "soft"].push(to);
    }
  });
  const critical = new Set(each(graph.critical).flatMap((k) => number.get(k) ?? []));
  return { sprints, groups, number, critical, shape: { group, groups: groups.length, links } };
}

function parts(key: string, title: string, list: number[]): Group[] {
  if (list.length <= longest) return [{ key, title, sprints: list }];
  const count = Math.ceil(list.length / longest);
  const size = Math.ceil(list.length / count);
  return Array.from({ length: count }, (_, i) => ({
    key: `${key} (${i + 1})`,
    title: `${title}, part ${i + 1} of ${count}`,
    sprints: list.slice(i * size, (i + 1) * size),
  }));
}

const mostAround = 400;

// around are the sprints at most so many hops from one, nearest first.
export function around(model: Model, of: number, hops: number): number[] {
  const found = new Set([of]);
  let edge = [of];
  for (let hop = 0; hop < hops; hop++) {
    const next: number[] = [];
    for (const i of edge) {
      const s = model.sprints[i];
      for (const o of [...(s?.before ?? []), ...(s?.after ?? []), ...(s?.soft ?? [])]) {
        if (found.has(o) || found.size >= mostAround) continue;
        found.add(o);
        next.push(o);
      }
    }
    edge = next;
  }
  return [...found];
}
