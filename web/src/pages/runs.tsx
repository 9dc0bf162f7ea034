// Runs: the attempts of an epic and what followed what, as a picture and as a list.
import { useEffect, useMemo, useRef, useState } from "react";
import type { AgentRun, Epic, RunGraph, Sprint, Statuses } from "../api";
import { useKeys } from "../keys";
import { layout } from "../layout";
import { Clock, Command, Loaded, Long, Section, Status, Title } from "../parts/basics";
import { EpicTabs } from "../parts/epictabs";
import { matches } from "../parts/find";
import { later } from "../parts/later";
import { VerdictLine } from "../parts/verdicts";
import { useResource } from "../resource";
import { api, go, to } from "../route";
import { Took, hrefOf } from "../runs/facts";
import { costs, count, each, needOfState, tone, whole, type Need } from "../words";

const drawnMost = 400; // runs in the picture
const step = 200; // runs in the list at first, and with each "more"

const narrow = matchMedia("(max-width: 40rem)");

const load = async () => (await import("../runs/picture")).Picture;
const Picture = later(load);
if (!narrow.matches) load().catch(() => undefined); // beside the answer; a failure shows where the picture would

export function RunsPage({ epic, query }: { epic: string; query: URLSearchParams }) {
  const e = useResource<Epic>(api.epic(epic)).data;
  const graph = useResource<RunGraph>(api.runs(epic));
  return (
    <>
      <Title short text={e ? `Runs: ${e.title}` : "Runs"} />
      <EpicTabs epic={epic} at="Runs" />
      <Loaded of={graph} what="The runs">
        {(g) => <View epic={epic} graph={g} chosen={query.get("run") ?? ""} />}
      </Loaded>
    </>
  );
}

function View({ epic, graph, chosen }: { epic: string; graph: RunGraph; chosen: string }) {
  const [text, setText] = useState("");
  const [pictured, setPictured] = useState(!narrow.matches);
  const all = each(graph.runs);
  useKeys({ "/": () => document.getElementById("find")?.focus() });
  const found = useMemo(() => each(graph.runs).filter((r) => matches(text, `${r.key} ${r.step}`, r.title)), [graph, text]);
  const drawn = useMemo(() => layout(found.slice(-drawnMost), each(graph.edges)), [found, graph]);
  if (all.length === 0) return <p>No agent has run yet.</p>;
  const run = all.find((r) => r.id === chosen);
  return (
    <>
      <div className="filter">
        <input id="find" type="search" aria-label="Find runs" placeholder="find by sprint or step" value={text} onChange={(e) => setText(e.target.value)} />
        <span className="faint">
          {found.length === all.length ? count(all.length, "run") : `${whole(found.length)} of ${count(all.length, "run")}`}
          {pictured && drawn.boxes.length > 0 && "; arrow keys follow the lines"}
        </span>
        {!pictured && (
          <button type="button" className="small" onClick={() => setPictured(true)}>
            show the picture
          </button>
        )}
      </div>
      {pictured && found.length > drawn.boxes.length && <p className="faint">The picture has the newest {whole(drawn.boxes.length)}.</p>}
      {pictured && drawn.boxes.length > 0 && <Picture drawn={drawn} epic={epic} chosen={chosen} text={text} />}
      {run && <Chosen key={run.id} run={run} epic={epic} />}
      <Section title="As a list" count={found.length}>
        <List epic={epic} runs={found} chosen={chosen} />
      </Section>
    </>
  );
}

// List has the newest run first.
function List({ epic, runs, chosen }: { epic: string; runs: AgentRun[]; chosen: string }) {
  const [most, setMost] = useState(step);
  const shown = runs.slice(-most).reverse();
  const state = useResource<Statuses>(api.status(epic)).data?.state;
  const newest = new Map(runs.map((r) => [r.key, r.id]));
  const needOf = (r: AgentRun): Need | "" => {
    if (newest.get(r.key) === r.id && needOfState(state?.[r.key]) === "waits") return "waits";
    return tone(r.shown) === "bad" ? "failed" : "";
  };
  return (
    <>
      <ul className="plain rows">
        {shown.map((r) => (
          <li key={r.id} className="sprintrow">
            <a href={hrefOf(epic, r)} data-row="" data-need={needOf(r)} className="what" aria-current={r.id === chosen ? "true" : undefined}>
              <Status status={r.shown} word={r.status} /> <span className="key">{r.key}</span>
              <span className="title">
                {r.step} #{r.attempt}
              </span>
            </a>
            <span className="facts">
              <VerdictLine gates={each(r.verdicts)} />
              <Took run={r} />
              {r.spent && <span>{costs(r.spent)}</span>}
            </span>
          </li>
        ))}
      </ul>
      {runs.length > most && (
        <button type="button" onClick={() => setMost(most + step)}>
          show {Math.min(step, runs.length - most)} more of {whole(runs.length - most)}
        </button>
      )}
    </>
  );
}

// Chosen is a run, and the session of its agent. Who has opened it in the list is led there.
function Chosen({ run: r, epic }: { run: AgentRun; epic: string }) {
  const sprint = useResource<Sprint>(api.sprint(epic, r.key)).data;
  const join = each(sprint?.join).filter((j) => j.step === r.step && j.attempt === r.attempt);
  const at = { attempt: `${r.step}/${r.attempt}` };
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const from = document.activeElement;
    box.current?.scrollIntoView({ block: "nearest" });
    if (from?.matches(".rows a")) box.current?.focus({ preventScroll: true });
  }, []);
  return (
    <div ref={box} tabIndex={-1} className="chosenrun">
      <Section
        title={`${r.key} ${r.step} #${r.attempt}`}
        aside={
          <button type="button" className="small" onClick={() => go(to.runs(epic))}>
            close
          </button>
        }
      >
        <p className="facts">
          <Status status={r.shown} word={r.status} />
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
          {r.spent && <span>{costs(r.spent)}</span>}
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
    </div>
  );
}
