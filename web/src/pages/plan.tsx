// Plan: its source, with the status of each sprint beside its heading, and what the compiler
// says of it. It is edited in an editor.
import type { Diagnostic, Epic, Plan } from "../api";
import { Command, Loaded, Section, Status, Title } from "../parts/basics";
import { EpicTabs } from "../parts/epictabs";
import { useResource } from "../resource";
import { api, to } from "../route";
import { count, each, needOf } from "../words";

export function PlanPage({ epic }: { epic: string }) {
  const e = useResource<Epic>(api.epic(epic)).data;
  const answer = useResource<Plan>(api.plan(epic));
  return (
    <>
      <Title short text={e ? `Plan: ${e.title}` : "Plan"} />
      <EpicTabs epic={epic} at="Plan" />
      <Loaded of={answer} what="The plan">
        {(p) => <View plan={p} epic={epic} />}
      </Loaded>
    </>
  );
}

function View({ plan: p, epic }: { plan: Plan; epic: string }) {
  const diagnostics = each(p.diagnostics.diagnostics);
  return (
    <>
      {p.cannot && (
        <p>
          <Status status="blocked" word={p.cannot} />
        </p>
      )}
      {p.stale && (
        <Section title="It was changed since it was compiled">
          <p className="said">{p.text}</p>
          {p.command && (
            <p>
              To compile it: <Command text={p.command} />
            </p>
          )}
        </Section>
      )}
      {diagnostics.length > 0 && (
        <Section title="The compiler says" count={diagnostics.length}>
          <ul className="plain verdictlist">
            {diagnostics.map((d, i) => (
              <DiagnosticLine key={`${d.code} ${i}`} diagnostic={d} />
            ))}
          </ul>
        </Section>
      )}
      <Section title={p.file} aside={<span className="faint">{count(each(p.lines).length, "line")}</span>}>
        <Source plan={p} epic={epic} />
      </Section>
    </>
  );
}

function DiagnosticLine({ diagnostic: d }: { diagnostic: Diagnostic }) {
  return (
    <li>
      <div className="row">
        <Status status={d.severity === "error" ? "blocked" : d.severity === "warning" ? "error" : "pending"} word={`${d.severity}: ${d.summary}`} />
        <span className="faint">
          {d.range?.file}
          {d.range?.from && `:${d.range.from.line}`} {d.code}
        </span>
      </div>
      <p className="said">{d.detail}</p>
    </li>
  );
}

// Source is the plan in blocks that begin with a sprint's heading.
function Source({ plan: p, epic }: { plan: Plan; epic: string }) {
  const lines = each(p.lines);
  const keys = each(p.keys).filter((k) => k.line > 0);
  const starts = keys.map((k) => k.line - 1);
  const first = starts[0] ?? lines.length;
  return (
    <div className="source">
      <Lines lines={lines.slice(0, first)} from={1} />
      {keys.map((k, i) => (
        <div key={k.key}>
          <p className="mark">
            <a href={to.sprint(epic, k.key)} data-row="" data-need={needOf(k.human, k.status ?? "")}>
              <Status status={k.shown ?? "ready"} word={k.word || k.status || "new"} />
              <span className="hidden"> {k.key}</span>
            </a>
            {k.open && <Command text={k.open} />}
          </p>
          <Lines lines={lines.slice(k.line - 1, starts[i + 1] ?? lines.length)} from={k.line} />
        </div>
      ))}
    </div>
  );
}

function Lines({ lines, from }: { lines: string[]; from: number }) {
  return (
    <div className="block" style={{ containIntrinsicHeight: `auto ${lines.length * 1.45}em` }}>
      {lines.map((text, i) => (
        <div key={i} className="l plainly" data-is={from + i}>
          {text || " "}
        </div>
      ))}
    </div>
  );
}
