// Attempts of a sprint, newest first: verdicts, tests, and what the agent was told.
import { useEffect, useRef } from "react";
import type { Attempt, Joining } from "../api";
import { Clock, Command, Long, Status } from "../parts/basics";
import { ErredList, VerdictList } from "../parts/verdicts";
import { to } from "../route";
import { dollars, each, lasted, whole } from "../words";
import type { TabProps } from "./sprint";

export const nameOf = (a: { step: string; number: number }): string => `${a.step}/${a.number}`;

export const shownAs = (a: Attempt): string => (a.waits_for ? "waiting" : a.replaced ? "replaced" : a.status);
export const wordOf = (a: Attempt): string => (a.waits_for ? `waiting: ${a.waits_for}` : a.replaced ? "replaced" : a.status);

export function Attempts({ s, epic, query }: TabProps) {
  const all = [...each(s.show.attempts)].reverse();
  if (all.length === 0) return <p>Nobody has tried it yet.</p>;
  return (
    <>
      {all.map((a) => (
        <One key={nameOf(a)} attempt={a} epic={epic} sprint={s.show.key} join={each(s.join)} chosen={query.get("run") === nameOf(a)} />
      ))}
    </>
  );
}

function One({ attempt: a, epic, sprint, join, chosen }: { attempt: Attempt; epic: string; sprint: string; join: Joining[]; chosen: boolean }) {
  const ref = useRef<HTMLElement>(null);
  useEffect(() => {
    if (chosen) ref.current?.focus();
  }, [chosen]);
  const run = { attempt: nameOf(a) };
  return (
    <article ref={ref} tabIndex={-1} data-row="" className="attempt" aria-label={`${a.step} #${a.number}`}>
      <header className="head">
        <h2>
          {a.step} #{a.number} <Status status={shownAs(a)} word={wordOf(a)} />
        </h2>
        <nav aria-label={`Of ${a.step} #${a.number}`}>
          <a href={to.sprint(epic, sprint, "diff", run)}>diff</a> <a href={to.sprint(epic, sprint, "log", run)}>log</a> <a href={to.sprint(epic, sprint, "prompt", run)}>prompt</a>
        </nav>
      </header>
      <p className="facts">
        {(a.agent || a.person) && <span>{[a.agent || a.person, a.model].filter(Boolean).join(", ")}</span>}
        {a.started && (
          <span>
            <Clock at={a.started} />
            {a.ended && (
              <>
                {" to "}
                <Clock at={a.ended} />
              </>
            )}
          </span>
        )}
        {(a.work_ms ?? 0) > 0 && <span>{lasted(a.work_ms ?? 0)}</span>}
        {cost(a) && <span>{cost(a)}</span>}
        {a.files_changed > 0 && (
          <span>
            <span className="plus">+{a.lines_added}</span> <span className="minus">−{a.lines_removed}</span>
          </span>
        )}
        {a.commit && <code>{a.commit.slice(0, 12)}</code>}
        {a.sandbox && (
          <span>{a.sandbox.kind === "none" ? "without a sandbox (--sandbox none)" : `in sandbox ${a.sandbox.name} (${a.sandbox.kind})`}</span>
        )}
      </p>
      {each(a.sandbox?.refused).length > 0 && <p className="status asks">The sandbox refused {each(a.sandbox?.refused).join(", ")}: only its network list lets a host through.</p>}
      {a.reason && a.status !== "passed" && <Long text={a.reason} />}
      <VerdictList gates={each(a.gates)} />
      <ErredList erred={each(a.erred)} />
      {each(a.problems).map((p, i) => (
        <p key={i} className="status asks">
          {p}
        </p>
      ))}
      <Says attempt={a} />
      {each(a.feedback).length > 0 && (
        <details open>
          <summary>What its agent was told</summary>
          {each(a.feedback).map((f, i) => (
            <Long key={i} text={f} />
          ))}
        </details>
      )}
      {join
        .filter((j) => j.step === a.step && j.attempt === a.number)
        .map((j) => (
          <p key={`${j.session} ${j.gate ?? ""}`} className="faint">
            session {j.session}
            {j.gate && ` of gate ${j.gate}`}: {j.command ? <Command text={j.command} /> : j.cannot}
          </p>
        ))}
    </article>
  );
}

// Says is what the agent reported: a claim.
function Says({ attempt: a }: { attempt: Attempt }) {
  const o = a.outcome;
  if (!o) return null;
  const said = [o.summary, ...each(o.errors)].filter(Boolean).join("\n");
  if (!said && !o.invalid && !o.result) return null;
  return (
    <details>
      <summary>
        Its agent says: {o.result || "nothing"}
        {o.needs_human && ", a person is needed"}
      </summary>
      <Long text={said} />
      {o.invalid && <p className="status asks">what it wrote is no outcome: {o.invalid}</p>}
    </details>
  );
}

function cost(a: Attempt): string {
  if (a.usd_micro) return dollars(a.usd_micro);
  if (a.tokens) return `${whole(a.tokens)} tokens`;
  return a.agent && a.usd_micro === null && a.tokens === null ? "cost unknown" : "";
}
