// The graph as a list: phases that open, sprints, and of the chosen one what it needs and
// what needs it.
import { memo, useEffect, useRef, useState, type KeyboardEvent, type MouseEvent } from "react";
import type { Shown } from "../pages/graph";
import { Status } from "../parts/basics";
import { matches } from "../parts/find";
import { to } from "../route";
import { inAll, phaseName, sign, tone, whole } from "../words";
import { useAll, useGroup, useNeed, useStatus, type Board } from "./board";
import type { Model } from "./model";
import type { View } from "./view";

const filters: [string, (board: Board, model: Model, sprint: number) => boolean][] = [
  ["all", () => true],
  ["waits for you", (b, _, i) => b.asks(i)],
  ["waiting", (b, _, i) => b.status(i) === "waiting"],
  ["failed", (b, _, i) => b.status(i) === "blocked"],
  ["running", (b, _, i) => b.status(i) === "running"],
  ["critical path", (_, m, i) => m.critical.has(i)],
];

const step = 200; // found sprints that are listed at first, and with each "more"

export function List(shown: Shown) {
  const { view, board, model } = shown;
  const box = useRef<HTMLDivElement>(null);
  const looks = view.text !== "" || view.filter !== "all";
  useEffect(() => {
    const list = box.current;
    const row = list?.querySelector<HTMLElement>("[aria-current]");
    if (list && row && list.scrollHeight > list.clientHeight + 1 && getComputedStyle(list).overflowY === "auto") {
      const [a, b] = [list.getBoundingClientRect(), row.getBoundingClientRect()];
      if (b.top < a.top || b.bottom + 120 > a.bottom) list.scrollTop += b.top - a.top - 60;
    }
    if (row && view.seek.focus && !document.querySelector(".picturebox")) row.focus();
  }, [view.chosen, view.seek, looks]);
  return (
    <div className="graphlist">
      <Search {...shown} />
      <div className="scroll" ref={box}>
        {looks || view.only >= 0 ? <Found {...shown} /> : <Phases view={view} board={board} model={model} epic={shown.epic} />}
      </div>
    </div>
  );
}

function Search({ view, model, board }: Shown) {
  const first = () => {
    const at = model.sprints.findIndex((s, i) => matches(view.text, s.key, s.title) && passes(view.filter, board, model, i));
    if (at >= 0) view.choose(at);
  };
  return (
    <form
      className="filter"
      onSubmit={(e) => {
        e.preventDefault();
        first();
      }}
    >
      <input id="find" type="search" aria-label="Find a sprint" placeholder="find by key or title" value={view.text} onChange={(e) => view.find(e.target.value, view.filter)} />
      <select aria-label="Show" value={view.filter} onChange={(e) => view.find(view.text, e.target.value)}>
        {filters.map(([name]) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </form>
  );
}

const passes = (filter: string, board: Board, model: Model, sprint: number): boolean => filters.find(([name]) => name === filter)?.[1](board, model, sprint) ?? true;

function Found(shown: Shown) {
  const { view, board, model } = shown;
  const [most, setMost] = useState(step);
  useAll(board);
  const from = view.ask.only ?? model.sprints.keys();
  const found = [...from].filter((i) => matches(view.text, model.sprints[i]?.key ?? "", model.sprints[i]?.title ?? "") && passes(view.filter, board, model, i));
  return (
    <>
      {view.chosen >= 0 && !found.slice(0, most).includes(view.chosen) && <Chosen {...shown} sprint={view.chosen} named />}
      {found.length === 0 && <p className="faint">No sprint is like that.</p>}
      <ul className="plain">
        {found.slice(0, most).map((i) => (
          <SprintRow key={i} {...shown} sprint={i} />
        ))}
      </ul>
      {found.length > most && (
        <button type="button" onClick={() => setMost(most + step)}>
          show {Math.min(step, found.length - most)} more of {whole(found.length - most)}
        </button>
      )}
    </>
  );
}

function Phases(shown: Shown) {
  return (
    <ul className="plain">
      {shown.model.groups.map((_, g) => (
        <Phase key={g} {...shown} group={g} />
      ))}
    </ul>
  );
}

function Phase(shown: Shown & { group: number }) {
  const { model, view, board, group } = shown;
  const g = model.groups[group];
  if (!g) return null;
  const open = view.isOpen(group);
  return (
    <li className="phase">
      <PhaseHead board={board} sprints={g.sprints} group={group} name={g.key} title={g.title} open={open} toggle={view.toggle} />
      {open && (
        <ul className="plain">
          {g.sprints.map((i) => (
            <SprintRow key={i} {...shown} sprint={i} />
          ))}
        </ul>
      )}
    </li>
  );
}

interface Head {
  board: Board;
  sprints: number[];
  group: number;
  name: string;
  title: string;
  open: boolean;
  toggle: (group: number) => void;
}

const PhaseHead = memo(function PhaseHead({ board, sprints, group, name, title, open, toggle }: Head) {
  useGroup(board, group);
  return (
    <button type="button" className="phasehead" data-row="" title={phaseName(name, title)} aria-expanded={open} onClick={() => toggle(group)}>
      <span aria-hidden="true">{open ? "▾" : "▸"}</span>
      <span className="name">{phaseName(name, title)}</span>
      <Counts board={board} sprints={sprints} />
    </button>
  );
});

const counted = ["waiting", "blocked", "running", "interrupted", "done", "skipped", "cancelled"];

// Counts are how many there are of each status that says something.
export function Counts({ board, sprints }: { board: Board; sprints: number[] }) {
  const n = new Map<string, number>();
  for (const i of sprints) n.set(board.status(i), (n.get(board.status(i)) ?? 0) + 1);
  const rest = counted.reduce((left, status) => left - (n.get(status) ?? 0), sprints.length);
  return (
    <span className="counts">
      {counted
        .filter((s) => n.has(s))
        .map((s) => (
          <span key={s} className={`status ${tone(s)}`}>
            <span aria-hidden="true">{sign(s)}</span>
            {n.get(s)}
            <span className="hidden"> {inAll(s, n.get(s) ?? 0)}</span>
          </span>
        ))}
      {rest > 0 && (
        <span className="faint">
          <span aria-hidden="true">·</span>
          {rest}
          <span className="hidden"> to do</span>
        </span>
      )}
    </span>
  );
}

function SprintRow(shown: Shown & { sprint: number }) {
  const { model, view, epic, board, sprint } = shown;
  const s = model.sprints[sprint];
  const chosen = view.chosen === sprint;
  const choose = useRef(view.choose);
  useEffect(() => {
    choose.current = view.choose;
  });
  const [click] = useState(() => (i: number) => choose.current(i));
  if (!s) return null;
  return (
    <li className={chosen ? "sprint chosen" : "sprint"}>
      <Row board={board} sprint={sprint} name={s.key} title={s.title} href={to.sprint(epic, s.key)} critical={view.critical && model.critical.has(sprint)} chosen={chosen} choose={click} />
      {chosen && <Chosen {...shown} />}
    </li>
  );
}

interface RowOf {
  board: Board;
  sprint: number;
  name: string;
  title: string;
  href: string;
  critical: boolean;
  chosen: boolean;
  choose: (sprint: number) => void;
}

// Row is a sprint: a click or Space shows it in the picture, Enter and a second click open it.
const Row = memo(function Row({ board, sprint, name, title, href, critical, chosen, choose }: RowOf) {
  const status = useStatus(board, sprint);
  const need = useNeed(board, sprint);
  const click = (e: MouseEvent) => {
    if (e.detail === 0 || chosen || e.ctrlKey || e.metaKey || e.shiftKey) return;
    e.preventDefault();
    choose(sprint);
  };
  const press = (e: KeyboardEvent) => {
    if (e.key !== " ") return;
    e.preventDefault();
    choose(sprint);
  };
  return (
    <a href={href} title={title} data-row="" data-need={need} aria-current={chosen ? "true" : undefined} onClick={click} onKeyDown={press}>
      <Status status={status} short />
      <span className="key">{name}</span> <span className={critical ? "title critical" : "title"}>{title}</span>
    </a>
  );
});

const few = 12;

// Chosen is what a picture shows with lines, and what can be done with the sprint.
function Chosen({ model, view, epic, board, sprint, named }: Shown & { sprint: number; named?: boolean }) {
  const status = useStatus(board, sprint);
  const s = model.sprints[sprint];
  if (!s) return null;
  return (
    <div className="about">
      {named && (
        <p>
          <span className="key">{s.key}</span> {s.title}
        </p>
      )}
      <p>
        <Status status={status} word={board.asks(sprint) ? "waiting for a person" : status} />
        {model.critical.has(sprint) && <span className="faint"> · on the critical path</span>}
      </p>
      <Neighbours name="needs" list={s.before} model={model} board={board} view={view} none="nothing" />
      <Neighbours name="needed by" list={s.after} model={model} board={board} view={view} none="nothing" />
      {s.soft.length > 0 && <Neighbours name="related to" list={s.soft} model={model} board={board} view={view} none="" />}
      <p className="buttons">
        <a className="act" href={to.sprint(epic, s.key)}>
          open<span className="hidden"> {s.key}</span>
        </a>
        <button type="button" className="small" aria-pressed={view.only === sprint} onClick={() => view.setOnly(view.only === sprint ? -1 : sprint)}>
          only two steps around
        </button>
      </p>
    </div>
  );
}

function Neighbours({ name, list, model, board, view, none }: { name: string; list: number[]; model: Model; board: Board; view: View; none: string }) {
  const [all, setAll] = useState(false);
  const shown = all ? list : list.slice(0, few);
  return (
    <p className="neighbours">
      <span className="faint">{name}</span>
      {list.length === 0 && <span className="faint"> {none}</span>}
      {shown.map((i) => (
        <Neighbour key={i} sprint={i} name={model.sprints[i]?.key ?? ""} title={model.sprints[i]?.title ?? ""} board={board} choose={() => view.choose(i)} />
      ))}
      {list.length > shown.length && (
        <button type="button" className="small" onClick={() => setAll(true)}>
          {list.length - shown.length} more
        </button>
      )}
    </p>
  );
}

function Neighbour({ sprint, name, title, board, choose }: { sprint: number; name: string; title: string; board: Board; choose: () => void }) {
  const status = useStatus(board, sprint);
  return (
    <button type="button" className="small" title={title} onClick={choose}>
      <Status status={status} short />
      <span className="key">{name}</span>
    </button>
  );
}
