// What the picture and the list say of a run.
import type { AgentRun } from "../api";
import { Ago } from "../parts/basics";
import { to } from "../route";
import { lasted } from "../words";

export const known = (spent: string | undefined): string => (spent === "unknown" ? "" : (spent ?? ""));

export const hrefOf = (epic: string, r: AgentRun): string => `${to.runs(epic)}?run=${encodeURIComponent(r.id)}`;

export function Took({ run: r }: { run: AgentRun }) {
  if (!r.started || r.shown === "waiting") return null; // it has not waited since then
  if (!r.ended) return <Ago at={r.started} />;
  return <span>{lasted(r.work_ms)}</span>; // what it waited is no work
}
