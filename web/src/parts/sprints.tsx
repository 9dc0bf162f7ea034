// Sprints as rows.
import { useMemo, useState } from "react";
import type { Failure, SprintLine } from "../api";
import { to } from "../route";
import { costs, count, each, firstLine, inAll, lasted, needOf, sign, tone, whole } from "../words";
import { Ago, Status } from "./basics";
import { Acts, doing } from "./decide";
import { matches } from "./find";
import { Holds } from "./holds";

const step = 300; // rows that are drawn at first, and with each "more"

export function SprintRows({ epic, sprints }: { epic: string; sprints: SprintLine[] }) {
  const [most, setMost] = useState(step);
  return (
    <>
      <ul className="plain rows">
        {sprints.slice(0, most).map((s) => (
          <li key={s.key} className="sprintrow">
            <a href={to.sprint(epic, s.key)} data-row="" data-need={needOf(s.human, s.status)} className="what">
              <Status status={s.shown} word={s.word} />
              <span className="key">{s.key}</span> <span className="title">{s.title}</span>
            </a>
            <span className="facts">
              {s.shown === "running" && s.since && <Ago at={s.since} />}
              {s.shown === "waiting" && s.since && (
                <span>
                  for <Ago at={s.since} />
                </span>
              )}
              {s.tries > 1 && <span>{count(s.tries, "attempt")}</span>}
              {s.work_ms >= 1000 && s.status !== "running" && <span>{lasted(s.work_ms)}{s.status === "waiting" && " of work"}</span>}
              {s.spent && (s.spent !== "unknown" || s.status !== "running") && <span>{costs(s.spent)}</span>}
            </span>
            {(s.doing || s.reason) && s.status !== "done" && <p className="reason">{s.doing || firstLine(s.reason)}</p>}
          </li>
        ))}
      </ul>
      {sprints.length > most && (
        <button type="button" onClick={() => setMost(most + step)}>
          show {Math.min(step, sprints.length - most)} more of {whole(sprints.length - most)}
        </button>
      )}
    </>
  );
}

const filters: [string, (s: SprintLine) => boolean][] = [
  ["all", () => true],
  ["waiting", (s) => s.status === "waiting"],
  ["failed", (s) => s.status === "blocked"],
  ["running", (s) => s.shown === "running"],
  ["interrupted", (s) => s.shown === "interrupted"],
  ["to do", (s) => s.status === "pending" || s.status === "ready"],
  ["done", (s) => s.status === "done" || s.status === "skipped"],
  ["cancelled", (s) => s.status === "cancelled"],
];

// Kept while the page is open: who comes back finds the list as it was left.
const kept = new Map<string, { text: string; filter: string }>();

export function SprintList({ epic, sprints }: { epic: string; sprints: SprintLine[] }) {
  const [look, setLook] = useState(kept.get(epic) ?? { text: "", filter: "all" });
  const change = (to: { text: string; filter: string }) => {
    kept.set(epic, to);
    setLook(to);
  };
  const counts = useMemo(() => filters.map(([name, of]) => ({ name, of, n: sprints.filter(of).length })), [sprints]);
  const of = filters.find(([name]) => name === look.filter)?.[1];
  const shown = sprints.filter((s) => (of?.(s) ?? true) && matches(look.text, s.key, s.title));
  return (
    <>
      <div className="filter">
        <input
          id="find"
          type="search"
          aria-label="Find a sprint"
          placeholder="find by key or title"
          value={look.text}
          onChange={(e) => change({ ...look, text: e.target.value })}
        />
        <div className="buttons" role="group" aria-label="Show">
          {counts
            .filter((c) => c.n > 0 || c.name === "all")
            .map((c) => (
              <button key={c.name} type="button" className="small" aria-pressed={c.name === look.filter} onClick={() => change({ ...look, filter: c.name })}>
                {c.name} {whole(c.n)}
              </button>
            ))}
        </div>
      </div>
      {shown.length === 0 && <p className="faint">No sprint is like that.</p>}
      <SprintRows key={look.filter} epic={epic} sprints={shown} />
    </>
  );
}

// Failures are blocked sprints, those with one cause together.
export function Failures({ failures, epics, repos }: { failures: Failure[]; epics?: boolean; repos?: boolean }) {
  return (
    <ul className="plain rows">
      {failures.map((f, i) => {
        const keys = each(f.keys);
        return (
          <li key={`${keys[0] ?? ""} ${i}`} className="inboxrow">
            <div className="line">
              <span className="what">
                <Status status="blocked" word={f.gate ? `failed: ${f.gate}` : "failed"} />
                {keys.slice(0, 8).map((k, at) => (
                  <a key={k} href={to.sprint(f.epic, k)} data-row="" data-need="failed">
                    <span className="key">{k}</span> {at === 0 && <span className="title">{f.title}</span>}
                  </a>
                ))}
                {keys.length > 8 && <span className="faint">and {keys.length - 8} more</span>}
              </span>
              <span className="facts">
                {epics && <span>{f.epic_title}</span>}
                {repos && <span>{f.repo}</span>}
                {f.tries > 0 && <span>{count(f.tries, "attempt")}</span>}
                <Holds of={f} />
              </span>
              <Acts offers={each(f.offers).filter((o) => o.main && o.verb !== "apply")} href={(o) => to.sprint(f.epic, keys[0] ?? "", "now", { do: doing(o) })} of={keys[0] ?? ""} />
            </div>
            <p className="reason said">{f.reason}</p>
            {each(f.failed).length > 0 && (
              <p className="reason">
                {each(f.failed).slice(0, 8).map((name) => (
                  <code key={name} className="test">
                    {name}
                  </code>
                ))}
                {each(f.failed).length > 8 && <span className="faint">and {each(f.failed).length - 8} more</span>}
              </p>
            )}
          </li>
        );
      })}
    </ul>
  );
}

const order = ["waiting", "blocked", "running", "interrupted", "goes on", "done", "skipped", "cancelled", "ready", "pending"];

// Tally is how many sprints there are of each status, what needs somebody first.
export function Tally({ counts, total }: { counts: Record<string, number> | null; total: number }) {
  const c = counts ?? {};
  return (
    <span className="tally">
      {order
        .filter((s) => (c[s] ?? 0) > 0)
        .map((s) => (
          <span key={s} className={`status ${tone(s)}`}>
            <span className="sign" aria-hidden="true">
              {sign(s)}
            </span>
            <span>
              {s === "done" ? `${whole(c[s] ?? 0)} of ${whole(total)} done` : `${whole(c[s] ?? 0)} ${inAll(s, c[s] ?? 0)}`}
            </span>
          </span>
        ))}
      {(c["done"] ?? 0) === 0 && <span className="faint">of {count(total, "sprint")}</span>}
    </span>
  );
}

// Bar draws the same as a strip.
export function Bar({ counts, total }: { counts: Record<string, number> | null; total: number }) {
  if (total === 0) return null;
  const c = counts ?? {};
  return (
    <div className="bar" aria-hidden="true">
      {["done", "skipped", "running", "interrupted", "goes on", "waiting", "blocked", "cancelled", "ready", "pending"]
        .filter((s) => (c[s] ?? 0) > 0)
        .map((s) => (
          <span key={s} className={tone(s)} style={{ flexGrow: c[s] ?? 0 }} />
        ))}
    </div>
  );
}
