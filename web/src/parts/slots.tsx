import type { Epic, SprintLine } from "../api";
import { count, each, named } from "../words";

export const atWork = (run: { state: string }): boolean => run.state === "at work" || run.state === "ending";

// toContinue is what the command that goes on with a run is for.
export const toContinue = (run: { state: string }): string => (run.state === "not started" ? "To begin" : "To go on");

// Slots says how many sprints may run at a time, and which ones have to wait for that.
export function Slots({ of: e }: { of: Epic }) {
  const slots = e.run.slots ?? 0;
  if (!atWork(e.run) || slots === 0) return null;
  const keys = (is: (s: SprintLine) => boolean) => each(e.sprints).filter(is).map((s) => s.key);
  const wait = (list: string[], what: string) => list.length > 0 && `; ${named(list, list.length)} ${list.length === 1 ? "waits" : "wait"} for ${what}`;
  const running = each(e.running).length;
  return (
    <span className="faint">
      {running} of {count(slots, "slot")}
      {running >= slots && wait(keys((s) => s.free === true), "one")}
      {wait(keys((s) => s.for === "limit"), "a limit")}
    </span>
  );
}
