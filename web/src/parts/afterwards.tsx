// What follows a decision.
import type { EpicLine } from "../api";
import { Command } from "./basics";

// Afterwards says of a run in which something is to be decided whether it goes on by itself then,
// or what has to be typed.
export function Afterwards({ of: e, dir, named }: { of: EpicLine; dir: string; named?: boolean }) {
  if (e.waits + e.failed === 0 || e.draft) return null; // the approval of a draft ends its run
  const what = named ? `${e.title}: ` : "";
  if (e.run.state === "at work") return <p>{what}ralph apply is at work: it goes on by itself with what you decide.</p>;
  return (
    <p>
      {what}
      {e.run.state === "ending" ? "ralph apply is ending" : "No ralph apply is at work, and no decision starts one"}. Once you have decided, type: <Command text={e.apply} /> <span className="faint">in {dir}</span>
    </p>
  );
}
