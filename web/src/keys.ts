// The keyboard: pages say what their keys do, and j and k move through the rows of whatever
// page there is.
import { useEffect, useRef } from "react";

// Keys are what keys do; one that returns false leaves the key to others.
export type Keys = Record<string, () => unknown>;

const layers: { current: Keys }[] = [];
const above: { current: Keys }[] = [];
const patience = 1500; // ms between g and what follows

// useKeys makes keys work while the component is there. The last one to come is asked
// first, and those that are over the others before them. "g i" is g, then i.
export function useKeys(keys: Keys, over = false): void {
  const latest = useRef(keys);
  useEffect(() => {
    latest.current = keys;
  });
  useEffect(() => {
    const list = over ? above : layers;
    list.unshift(latest);
    return () => void list.splice(list.indexOf(latest), 1);
  }, [over]);
}

let begun = "";
let begunAt = 0;

function press(e: KeyboardEvent): void {
  if (e.defaultPrevented || e.isComposing || e.ctrlKey || e.metaKey || e.altKey) return;
  if (document.querySelector("dialog[open]")) return;
  const at = e.target instanceof HTMLElement ? e.target : null;
  if (at?.matches("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]")) {
    if (e.key !== "Escape") return;
  }
  if (e.key === "Shift") return;
  const prefix = begun && performance.now() - begunAt < patience ? `${begun} ` : "";
  begun = "";
  const name = prefix + e.key;
  if ([...above, ...layers].some((l) => l.current[name] && l.current[name]() !== false)) {
    e.preventDefault();
  } else if (e.key === "g" && !prefix) {
    begun = "g";
    begunAt = performance.now();
  } else if (e.key === "j" || e.key === "k") {
    e.preventDefault();
    step(e.key === "j" ? 1 : -1);
  }
}

export function listenToKeys(): void {
  document.addEventListener("keydown", press);
  document.addEventListener("focusin", () => {
    const i = rows().indexOf(document.activeElement as HTMLElement);
    if (i >= 0) place = i;
  });
}

let place = -1; // of the row that had the focus last: it may be gone

const rows = (selector = "[data-row]"): HTMLElement[] =>
  [...document.querySelectorAll<HTMLElement>(selector)].filter((r) => r.offsetParent !== null);

function step(by: 1 | -1): void {
  const all = rows();
  const i = all.indexOf(document.activeElement as HTMLElement);
  const next = i >= 0 ? i + by : document.activeElement === document.body && place >= 0 ? place : by > 0 ? 0 : all.length - 1;
  focusRow(all[Math.max(0, Math.min(next, all.length - 1))]);
}

function focusRow(row: HTMLElement | undefined): void {
  row?.focus();
  row?.scrollIntoView({ block: "nearest" });
}

// nextRow moves the focus to the next row with a need ("waits", "failed"), round the end;
// false if there is none.
export function nextRow(need: string): boolean {
  const all = rows();
  const from = all.indexOf(document.activeElement as HTMLElement);
  const order = [...all.slice(from + 1), ...all.slice(0, from + 1)];
  const found = order.find((r) => r.dataset["need"] === need);
  focusRow(found);
  return found !== undefined;
}

// actOfRow opens a decision that stands beside the row that has the focus, or if none has it
// beside the first row; false if there is none.
export function actOfRow(verb: string): boolean {
  const row = rowAtHand();
  const act = (row ? row.closest("li") : document)?.querySelector<HTMLElement>(`a.act[data-verb="${verb}"]`);
  act?.click();
  return act instanceof HTMLElement;
}

// rowAtHand is the row that has the focus.
export function rowAtHand(): HTMLElement | null {
  return document.activeElement?.closest<HTMLElement>("[data-row]") ?? null;
}

// forgetRow begins with the first row again: on a new page.
export function forgetRow(): void {
  place = -1;
}
