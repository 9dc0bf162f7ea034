// The boxes of the picture. Each watches its own status, and is drawn anew only for that.
import { createContext, memo, useContext } from "react";
import type { MiniMapNodeProps, NodeProps } from "@xyflow/react";
import { domID } from "../parts/canvas";
import { phaseName, sign, tone } from "../words";
import { useGroup, useStatus, type Board } from "./board";
import { Counts } from "./list";
import type { Model } from "./model";
import { cell, cellsInRow } from "./place";

export interface Context {
  epic: string;
  model: Model;
  board: Board;
  chosen: string;
  stop: string;
  critical: boolean;
  toggle: (group: number) => void;
  choose: (sprint: number) => void;
}

const context = createContext<Context | null>(null);
export const Of = context.Provider;

const numberOf = (id: string): number => Number(id.slice(1));

export function SprintBox({ id }: NodeProps) {
  const c = useContext(context);
  const s = c?.model.sprints[numberOf(id)];
  if (!c || !s) return null;
  return <Sprint id={id} board={c.board} name={s.key} title={s.title} chosen={c.chosen === id} stop={c.stop === id} critical={c.critical && c.model.critical.has(numberOf(id))} choose={c.choose} />;
}

interface SprintOf {
  id: string;
  board: Board;
  name: string;
  title: string;
  chosen: boolean;
  stop: boolean;
  critical: boolean;
  choose: (sprint: number) => void;
}

const Sprint = memo(function Sprint({ id, board, name, title, chosen, stop, critical, choose }: SprintOf) {
  const status = useStatus(board, numberOf(id));
  const look = `sprintbox ${tone(status)}${chosen ? " chosen" : ""}${critical ? " critical" : ""}`;
  return (
    <button type="button" id={domID(id)} data-box={id} className={look} tabIndex={stop ? 0 : -1} aria-pressed={chosen} title={`${name} ${title}`} onClick={() => choose(numberOf(id))}>
      <span className="line">
        <span aria-hidden="true" className={`status ${tone(status)}`}>
          {sign(status)}
        </span>{" "}
        <span className="key">{name}</span> <span className="word">{status}</span>
      </span>
      <span className="line title">{title}</span>
    </button>
  );
});

export function GroupBox({ id, data }: NodeProps) {
  const c = useContext(context);
  const group = numberOf(id);
  const g = c?.model.groups[group];
  if (!c || !g) return null;
  const critical = c.critical && g.sprints.some((i) => c.model.critical.has(i));
  return (
    <Group id={id} board={c.board} sprints={g.sprints} name={phaseName(g.key, g.title)} open={data["open"] === true} chosen={c.chosen === id} stop={c.stop === id} critical={critical} toggle={c.toggle} />
  );
}

interface GroupOf {
  id: string;
  board: Board;
  sprints: number[];
  name: string;
  open: boolean;
  chosen: boolean;
  stop: boolean;
  critical: boolean;
  toggle: (group: number) => void;
}

const Group = memo(function Group({ id, board, sprints, name, open, chosen, stop, critical, toggle }: GroupOf) {
  useGroup(board, numberOf(id));
  return (
    <div className={`groupbox${open ? " open" : ""}${chosen ? " chosen" : ""}${critical ? " critical" : ""}`}>
      <button type="button" id={domID(id)} data-box={id} tabIndex={stop ? 0 : -1} aria-expanded={open} title={name} onClick={() => toggle(numberOf(id))}>
        <span aria-hidden="true">{open ? "▾" : "▸"}</span>
        <span className="name">{name}</span>
        <Counts board={board} sprints={sprints} />
      </button>
      {!open && <Strip board={board} sprints={sprints} />}
    </div>
  );
});

// Strip has a cell for each sprint of a shut phase: one path of each colour.
function Strip({ board, sprints }: { board: Board; sprints: number[] }) {
  const paths = new Map<string, string>();
  sprints.forEach((i, at) => {
    const t = tone(board.status(i));
    const [x, y] = [(at % cellsInRow) * cell, Math.floor(at / cellsInRow) * cell];
    paths.set(t, `${paths.get(t) ?? ""}M${x} ${y}h${cell - 1}v${cell - 1}h${1 - cell}z`);
  });
  return (
    <svg className="strip" width={cellsInRow * cell} height={Math.ceil(sprints.length / cellsInRow) * cell} aria-hidden="true">
      {[...paths].map(([t, d]) => (
        <path key={t} className={t} d={d} />
      ))}
    </svg>
  );
}

// MiniBox is a box in the small picture of all.
export function MiniBox({ id, x, y, width, height }: MiniMapNodeProps) {
  const c = useContext(context);
  if (!c) return null;
  return id.startsWith("s") ? <MiniSprint board={c.board} sprint={numberOf(id)} at={{ x, y, width, height }} /> : <rect className="minigroup" {...{ x, y, width, height }} />;
}

function MiniSprint({ board, sprint, at }: { board: Board; sprint: number; at: { x: number; y: number; width: number; height: number } }) {
  return <rect className={`minibox ${tone(useStatus(board, sprint))}`} {...at} />;
}
