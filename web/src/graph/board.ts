// The statuses of all sprints. Who shows one is told when that one changes, at most once a
// frame: an event draws one box, not the picture.
import { useSyncExternalStore } from "react";
import type { Statuses } from "../api";
import { each, needOfState, type Need } from "../words";
import type { Model } from "./model";

export class Board {
  private states: string[] = [];
  private next: Statuses | null = null;
  private frame = 0;
  private readonly versions: number[]; // of groups
  private version = 0;
  private readonly ofSprints = new Map<number, Set<() => void>>();
  private readonly ofGroups = new Map<number, Set<() => void>>();
  private readonly ofAll = new Set<() => void>();

  constructor(private readonly model: Model) {
    this.versions = model.groups.map(() => 0);
  }

  // take shows an answer: the first one at once, the next ones with the next frame.
  take(answer: Statuses): void {
    this.next = answer;
    if (this.states.length === 0) return this.show();
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.show());
  }

  private show(): void {
    this.frame = 0;
    const state = this.next?.state;
    if (!state) return;
    const groups = new Set<number>();
    this.model.sprints.forEach((s, i) => {
      const now = state[s.key] ?? "pending";
      if (this.states[i] === now) return;
      this.states[i] = now;
      groups.add(s.group);
      for (const tell of each([...(this.ofSprints.get(i) ?? [])])) tell();
    });
    if (groups.size === 0) return;
    this.version++;
    for (const g of groups) {
      this.versions[g] = (this.versions[g] ?? 0) + 1;
      for (const tell of this.ofGroups.get(g) ?? []) tell();
    }
    for (const tell of this.ofAll) tell();
  }

  readonly status = (sprint: number): string => (this.states[sprint] ?? "pending").split(" ", 1)[0] ?? "pending";

  // asks reports whether a sprint waits for a person.
  readonly asks = (sprint: number): boolean => this.need(sprint) === "waits";

  readonly need = (sprint: number): Need | "" => needOfState(this.states[sprint]);

  readonly groupVersion = (group: number): number => this.versions[group] ?? 0;
  readonly allVersion = (): number => this.version;

  readonly watchSprint = (sprint: number, tell: () => void): (() => void) => watch(this.ofSprints, sprint, tell);
  readonly watchGroup = (group: number, tell: () => void): (() => void) => watch(this.ofGroups, group, tell);
  readonly watchAll = (tell: () => void): (() => void) => {
    this.ofAll.add(tell);
    return () => this.ofAll.delete(tell);
  };
}

function watch(all: Map<number, Set<() => void>>, key: number, tell: () => void): () => void {
  const list = all.get(key) ?? new Set();
  all.set(key, list.add(tell));
  return () => {
    list.delete(tell);
    if (list.size === 0 && all.get(key) === list) all.delete(key);
  };
}

// useNeed is what n and N look for.
export function useNeed(board: Board, sprint: number): string {
  return useSyncExternalStore(
    (tell) => board.watchSprint(sprint, tell),
    () => board.need(sprint),
  );
}

export function useStatus(board: Board, sprint: number): string {
  return useSyncExternalStore(
    (tell) => board.watchSprint(sprint, tell),
    () => board.status(sprint),
  );
}

// useGroup draws anew what shows a group as soon as one of its sprints changes.
export function useGroup(board: Board, group: number): void {
  useSyncExternalStore(
    (tell) => board.watchGroup(group, tell),
    () => board.groupVersion(group),
  );
}

export function useAll(board: Board): number {
  return useSyncExternalStore(board.watchAll, board.allVersion);
}
