// Runs: the attempts of an epic and what followed what, as a picture and as a list.
import { useMemo, useState, type KeyboardEvent } from "react";
import type { AgentRun, Epic, RunGraph, Sprint } from "../api";
import { Ago, Clock, Command, Loaded, Long, Section, Status, Title } from "../parts/basics";
import { EpicTabs } from "../parts/epictabs";
import { matches } from "../parts/find";
import { VerdictLine } from "../parts/verdicts";
import { box, layout, type Drawn, type Placed } from "../layout";
import { useResource } from "../resource";
import { api, go, to } from "../route";
import { each, lasted, sign, statusOf, tone } from "../words";

const most = 400; // runs in the picture

export function RunsPage({ epic, query }: { epic: string; query: URLSearchParams }) {
  const e = useResource<Epic>(api.epic(epic)).data;
  const graph = useResource<RunGraph>(api.runs(epic));
  return (
    <>
      <Title text={e ? `Runs: ${e.title}` : "Runs"} />
      <EpicTabs epic={epic} at="Runs" />
      <Loaded of={graph} what="The runs">
        {(g) => <View epic={epic} graph={g} chosen={query.get("run") ?? ""} />}
      </Loaded>
    </>
  );
}

function View({ epic, graph, chosen }: { epic: string; graph: RunGraph; chosen: string }) {
  const [text, setText] = useState("");
  const all = each(graph.runs);
  const drawn = useMemo(() => {
    const found = each(graph.runs).filter((r) => matches(text, `${r.key} ${r.step}`, r.title));
    return layout(found.slice(-most), each(graph.edges));
  }, [graph, text]);
  if (all.length === 0) return <p>No agent has run yet.</p>;
  const run = all.find((r) => r.id === chosen);
  const found = drawn.boxes.length;
  return (
    <>
      <div className="filter">
        <input id="find" type="search" aria-label="Find runs" placeholder="find by sprint or step" value={text} onChange={(e) => setText(e.target.value)} />
        <span className="faint">
          {found === all.length ? `${found} runs` : `${found} of ${all.length} runs${found === most ? ", the newest" : ""}`}; arrows follow the lines
        </span>
      </div>
      <Picture drawn={drawn} epic={epic} chosen={chosen} />
      {run && <Chosen run={run} epic={epic} />}
      <Section title="As a list" count={found}>
        <ul className="plain rows">
          {[...drawn.boxes].reverse().map(({ run: r }) => (
            <li key={r.id} className="sprintrow">
              <a href={hrefOf(epic, r)} data-row="" data-need={tone(statusOf(r.status)) === "bad" ? "failed" : ""} className="what">
                <Status status={r.status} /> <span className="key">{r.key}</span>
                <span className="title">
                  {r.step} #{r.attempt}
                </span>
              </a>
              <span className="facts">
                <VerdictLine gates={each(r.verdicts)} />
                <Took run={r} />
                {known(r.spent) && <span>{r.spent}</span>}
              </span>
            </li>
          ))}
        </ul>
      </Section>
    </>
  );
}

const known = (spent: string | undefined): string => (spent === "unknown" ? "" : (spent ?? ""));

const hrefOf = (epic: string, r: AgentRun): string => `${to.runs(epic)}?run=${encodeURIComponent(r.id)}`;

function Took({ run: r }: { run: AgentRun }) {
  if (!r.started) return null;
  if (!r.ended) return <span>for <Ago at={r.started} /></span>;
  return <span>{lasted(Date.parse(r.ended) - Date.parse(r.started))}</span>;
}

function Picture({ drawn, epic, chosen }: { drawn: Drawn; epic: string; chosen: string }) {
  const stop = drawn.boxes.find((b) => b.run.id === chosen) ?? drawn.boxes[drawn.boxes.length - 1];
  const press = (e: KeyboardEvent, at: Placed) => {
    const next = neighbour(drawn, at, e.key);
    if (!next) return;
    e.preventDefault();
    document.getElementById(idOf(next.run))?.focus();
  };
  return (
    <div className="picture" role="group" aria-label="Runs as a graph">
      <div style={{ width: drawn.width, height: drawn.height }}>
        <svg width={drawn.width} height={drawn.height} aria-hidden="true">
          {drawn.edges.map((e) => (
            <path key={`${e.from.run.id} ${e.to.run.id} ${e.type}`} d={path(e.from, e.to)} className={`edge ${e.type}`} />
          ))}
        </svg>
        {drawn.boxes.map((b) => (
          <a
            key={b.run.id}
            id={idOf(b.run)}
            href={hrefOf(epic, b.run)}
            className={`run ${tone(statusOf(b.run.status))}${b.run.id === chosen ? " chosen" : ""}`}
            tabIndex={b === stop ? 0 : -1}
            style={{ left: b.x, top: b.y, width: box.wide, height: box.high }}
            title={`${b.run.key} ${b.run.title}`}
            onKeyDown={(e) => press(e, b)}
          >
            <span className="line">
              <span className={`status ${tone(statusOf(b.run.status))}`} aria-hidden="true">
                {sign(statusOf(b.run.status))}
              </span>{" "}
              <span className="key">{b.run.key}</span> {b.run.step} #{b.run.attempt}
            </span>
            <span className="line faint">
              {b.run.status} <Took run={b.run} /> {known(b.run.spent)}
            </span>
          </a>
        ))}
      </div>
    </div>
  );
}

const idOf = (r: AgentRun): string => `run ${r.id}`;

function path(from: Placed, to: Placed): string {
  const x1 = from.x + box.wide;
  const y1 = from.y + box.high / 2;
  const y2 = to.y + box.high / 2;
  const turn = to.x - box.right; // it stays in its row until the column before
  const bend = box.right * 0.55;
  return `M${x1} ${y1}H${turn}C${turn + bend} ${y1} ${to.x - bend} ${y2} ${to.x} ${y2}`;
}

// neighbour is where an arrow key leads: along a line, or to the next row.
function neighbour(drawn: Drawn, at: Placed, key: string): Placed | undefined {
  switch (key) {
    case "ArrowLeft":
      return drawn.edges.find((e) => e.to === at)?.from;
    case "ArrowRight":
      return drawn.edges.find((e) => e.from === at)?.to;
    case "ArrowUp":
    case "ArrowDown": {
      const down = key === "ArrowDown";
      const beyond = drawn.boxes.filter((b) => (down ? b.row > at.row : b.row < at.row));
      const far = (b: Placed) => Math.abs(b.row - at.row) * 100 + Math.abs(b.column - at.column);
      return beyond.sort((a, b) => far(a) - far(b))[0];
    }
  }
  return undefined;
}

function Chosen({ run: r, epic }: { run: AgentRun; epic: string }) {
  const sprint = useResource<Sprint>(api.sprint(epic, r.key)).data;
  const join = each(sprint?.join).filter((j) => j.step === r.step && j.attempt === r.attempt);
  const at = { attempt: `${r.step}/${r.attempt}` };
  return (
    <Section
      title={`${r.key} ${r.step} #${r.attempt}`}
      aside={
        <button type="button" className="small" onClick={() => go(to.runs(epic))}>
          close
        </button>
      }
    >
      <p className="facts">
        <Status status={r.status} />
        <a href={to.sprint(epic, r.key)}>{r.title}</a>
        {r.agent && <span>{r.agent}</span>}
        {r.started && (
          <span>
            <Clock at={r.started} />
            {r.ended && (
              <>
                {" to "}
                <Clock at={r.ended} />
              </>
            )}
          </span>
        )}
        {known(r.spent) && <span>{r.spent}</span>}
        {r.commit && <code>{r.commit.slice(0, 12)}</code>}
      </p>
      <Long text={r.reason} />
      <p>
        <VerdictLine gates={each(r.verdicts)} />
      </p>
      {join.map((j) => (
        <p key={`${j.session} ${j.gate ?? ""}`}>
          Session{j.gate && ` of gate ${j.gate}`} {j.session}: {j.command ? <Command text={j.command} /> : <span className="faint">{j.cannot}</span>}
        </p>
      ))}
      {r.session && join.length === 0 && <p className="faint">Session {r.session}</p>}
      <p className="facts">
        <a href={to.sprint(epic, r.key, "attempts", { run: at.attempt })}>attempt</a>
        <a href={to.sprint(epic, r.key, "diff", at)}>diff</a>
        <a href={to.sprint(epic, r.key, "log", at)}>log</a>
        <a href={to.sprint(epic, r.key, "prompt", at)}>prompt</a>
      </p>
    </Section>
  );
}
