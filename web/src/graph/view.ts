// What is chosen, open and left out: the same for the list and the picture.
import { useCallback, useEffect, useMemo, useState } from "react";
import { note } from "../route";
import type { Board } from "./board";
import { around, type Model } from "./model";
import type { Ask } from "./place";

export type Need = "waits" | "failed" | "running";

export interface View {
  chosen: number; // sprint; -1: none
  group: number; // one that is chosen itself; -1: none
  only: number; // the sprint whose neighbours alone are shown; -1: all are
  critical: boolean; // the critical path is marked
  text: string; // that is searched
  filter: string;
  ask: Ask;
  isOpen: (group: number) => boolean;
  seek: { sprint: number; group: number; focus: boolean; times: number }; // what the picture has to bring into view
  choose: (sprint: number, how?: { seek?: boolean; focus?: boolean }) => void;
  chooseGroup: (group: number) => void;
  toggle: (group: number) => void;
  setOnly: (sprint: number) => void;
  setCritical: (on: boolean) => void;
  find: (text: string, filter: string) => void;
  next: (need: Need) => boolean;
}

const fewSprints = 300; // with more of them, all groups begin shut
const mostOpen = 600; // sprints in open groups; opening more shuts the oldest

interface State {
  open: number[]; // oldest first
  critical: boolean;
  text: string;
  filter: string;
}

// Kept while the page is open: who comes back finds it as it was left.
const kept = new Map<string, State>();

export const hasNeed = (board: Board, sprint: number, need: Need): boolean => {
  return need === "running" ? board.status(sprint) === "running" : board.need(sprint) === need;
};

export function useView(epic: string, model: Model, board: Board, query: URLSearchParams, shut: boolean): View {
  const id = `${epic} ${model.sprints.length}`;
  const [state, setState] = useState<State>(
    () => kept.get(id) ?? { open: shut || model.sprints.length > fewSprints ? [] : model.groups.map((_, i) => i), critical: false, text: "", filter: "all" },
  );
  useEffect(() => void kept.set(id, state), [id, state]);
  const number = (name: string) => model.number.get(query.get(name) ?? "") ?? -1;
  const [chosen, only] = [number("at"), number("only")];
  const [group, setGroup] = useState(-1);
  useEffect(() => {
    const s = model.sprints[chosen]; // the address may name one of a group that is shut
    if (s) setState((old) => (old.open.includes(s.group) ? old : { ...old, open: opened(model, old.open, s.group) }));
  }, [model, chosen]);
  const [seek, setSeek] = useState({ sprint: chosen, group: -1, focus: false, times: 0 });
  const near = useMemo(() => (only < 0 ? null : around(model, only, 2)), [model, only]);
  const ask = useMemo((): Ask => ({ open: near ? model.groups.map((_, i) => i) : state.open, only: near }), [model, near, state.open]);
  const open = useMemo(() => new Set(ask.open), [ask]);
  const toggle = useCallback((g: number) => setState((s) => ({ ...s, open: s.open.includes(g) ? s.open.filter((o) => o !== g) : opened(model, s.open, g) })), [model]);
  const choose: View["choose"] = (sprint, { seek: bring = true, focus = false } = {}) => {
    const s = model.sprints[sprint];
    note("at", s?.key ?? "");
    setGroup(-1);
    if (s && near && !near.includes(sprint)) note("only", "");
    if (s && !state.open.includes(s.group)) setState((old) => ({ ...old, open: opened(model, old.open, s.group) }));
    if (bring) setSeek((old) => ({ sprint, group: -1, focus, times: old.times + 1 }));
  };
  return {
    ...state,
    chosen: group < 0 ? chosen : -1,
    group,
    only,
    ask,
    seek,
    isOpen: (g) => open.has(g),
    choose,
    chooseGroup: (g) => {
      note("at", "");
      setGroup(g);
      setSeek((old) => ({ sprint: -1, group: g, focus: true, times: old.times + 1 }));
    },
    toggle,
    setOnly: (sprint) => {
      note("only", model.sprints[sprint]?.key ?? "");
      if (sprint >= 0) choose(sprint);
    },
    setCritical: (critical) => setState((s) => ({ ...s, critical })),
    find: (text, filter) => setState((s) => ({ ...s, text, filter })),
    next: (need) => {
      const n = model.sprints.length;
      for (let i = 1; i <= n; i++) {
        const at = (Math.max(-1, chosen) + i) % n;
        if (!hasNeed(board, at, need)) continue;
        choose(at, { focus: true });
        return true;
      }
      return false;
    },
  };
}

// opened adds a group to the open ones, and shuts the oldest if there are too many.
function opened(model: Model, open: number[], group: number): number[] {
  const next = [...open.filter((g) => g !== group), group];
  const size = () => next.reduce((n, g) => n + (model.groups[g]?.sprints.length ?? 0), 0);
  while (next.length > 1 && size() > mostOpen) next.shift();
  return next;
}
