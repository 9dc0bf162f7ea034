// The picture of the runs: a box an attempt, a line to what came after it.
import { createContext, memo, useContext, useEffect, useMemo, useRef, type KeyboardEvent } from "react";
import { Handle, Position, ReactFlowProvider, useReactFlow, type Edge, type EdgeProps, type EdgeTypes, type Node, type NodeProps, type NodeTypes } from "@xyflow/react";
import type { AgentRun } from "../api";
import { box as size, type Drawn, type Placed } from "../layout";
import { Canvas, domID, fit, focusSoon, inSight, placed, useStop, type Spot } from "../parts/canvas";
import { sign, tone } from "../words";
import { Took, hrefOf, known } from "./facts";
import "./runs.css";

export interface Of {
  drawn: Drawn;
  epic: string;
  chosen: string; // id of a run
  text: string; // that is searched
}

export function Picture(of: Of) {
  return (
    <ReactFlowProvider>
      <Flow {...of} />
    </ReactFlowProvider>
  );
}

type RunNode = Node<{ run: AgentRun }, "run">;
type RunEdge = Edge<{ type: string }, "way">;
interface Spotted extends Spot {
  at: Placed;
}

const nodeTypes: NodeTypes = { run: RunBox };
const edgeTypes: EdgeTypes = { way: Way };
const smallest = 0.55; // zoom at which boxes can still be read

function Flow({ drawn, epic, chosen, text }: Of) {
  const flow = useReactFlow();
  const box = useRef<HTMLDivElement>(null);
  const spots = useMemo(() => drawn.boxes.map((at): Spotted => ({ id: at.run.id, x: at.x, y: at.y, wide: size.wide, high: size.high, at })), [drawn]);
  const nodes = useMemo(() => spots.map(nodeOf), [spots]);
  const edges = useMemo(() => edgesOf(drawn), [drawn]);
  const { stop, find } = useStop(spots, chosen, flow, box);
  const first = useMemo(() => begin(drawn, chosen), [text]);
  const context = useMemo(() => ({ epic, chosen, stop }), [epic, chosen, stop]);
  const known = useRef({ text, chosen });
  useEffect(() => {
    const was = known.current;
    known.current = { text, chosen };
    const frame = requestAnimationFrame(() => {
      if (was.text !== text) void flow.fitView(first);
      else if (was.chosen !== chosen) show(chosen);
    });
    return () => cancelAnimationFrame(frame);
  }, [text, chosen, first, flow]);
  const show = (id: string) => {
    const s = spots.find((o) => o.id === id);
    if (s && box.current && !inSight(s, flow, box.current)) void flow.setCenter(s.x + s.wide / 2, s.y + s.high / 2, { zoom: Math.max(flow.getZoom(), smallest) });
  };
  const press = (e: KeyboardEvent) => {
    const at = spots.find((s) => s.id === (e.target as HTMLElement).dataset["box"]);
    const next = at && neighbour(drawn, at.at, e.key);
    if (!next || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    show(next.run.id);
    focusSoon(next.run.id);
  };
  return (
    <div className="picturebox runs" ref={box} onKeyDown={press} role="group" aria-label="Runs as a graph" style={{ height: `clamp(15rem, ${drawn.height + 40}px, 50dvh)` }}>
      <About value={context}>
        <Canvas<RunNode, RunEdge> box={box} moved={find} nodes={nodes} edges={edges} nodeTypes={nodeTypes} edgeTypes={edgeTypes} onInit={find} fitView fitViewOptions={first} />
      </About>
    </div>
  );
}

// begin is what is in sight at first: all of it, or if that is too small to read, the chosen
// run, else the newest.
function begin(drawn: Drawn, chosen: string) {
  const zoom = Math.min((innerWidth - 60) / drawn.width, (innerHeight * 0.5) / drawn.height);
  const at = drawn.boxes.find((b) => b.run.id === chosen) ?? drawn.boxes[drawn.boxes.length - 1];
  return zoom >= smallest || !at ? fit : { maxZoom: 0.8, nodes: [{ id: at.run.id }] };
}

// nodeOf says where lines end, too: React Flow measures that only of what is in sight.
function nodeOf(s: Spotted): RunNode {
  const handle = { y: s.high / 2, width: 0, height: 0 };
  return {
    ...placed(s),
    type: "run",
    handles: [
      { ...handle, type: "target", position: Position.Left, x: 0 },
      { ...handle, type: "source", position: Position.Right, x: s.wide },
    ],
    data: { run: s.at.run },
  };
}

const edgesOf = (drawn: Drawn): RunEdge[] =>
  drawn.edges.map((e) => ({
    id: `${e.from.run.id} ${e.to.run.id} ${e.type}`,
    source: e.from.run.id,
    target: e.to.run.id,
    type: "way",
    ariaRole: "presentation",
    domAttributes: { "aria-hidden": true },
    data: { type: e.type },
  }));

const context = createContext({ epic: "", chosen: "", stop: "" });
const About = context.Provider;

function RunBox({ id, data }: NodeProps<RunNode>) {
  const { epic, chosen, stop } = useContext(context);
  return (
    <>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <Box run={data.run} href={hrefOf(epic, data.run)} chosen={id === chosen} stop={id === stop} />
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </>
  );
}

const Box = memo(function Box({ run: r, href, chosen, stop }: { run: AgentRun; href: string; chosen: boolean; stop: boolean }) {
  return (
    <a id={domID(r.id)} data-box={r.id} href={href} className={`run ${tone(r.shown)}${chosen ? " chosen" : ""}`} tabIndex={stop ? 0 : -1} aria-current={chosen ? "true" : undefined} title={`${r.key} ${r.title}\n${r.step} #${r.attempt}: ${r.status}`} draggable={false}>
      <span className="line">
        <span className={`status ${tone(r.shown)}`} aria-hidden="true">
          {sign(r.shown)}
        </span>{" "}
        <span className="key">{r.key}</span> {r.step} #{r.attempt}
      </span>
      <span className="line faint">
        <span className="word">{r.status}</span> <Took run={r} /> {known(r.spent)}
      </span>
    </a>
  );
});

// Way stays in its row until the column before.
function Way({ sourceX, sourceY, targetX, targetY, data }: EdgeProps<RunEdge>) {
  const turn = targetX - size.right;
  const bend = size.right * 0.55;
  return <path className={`edge ${data?.type ?? ""}`} d={`M${sourceX} ${sourceY}H${turn}C${turn + bend} ${sourceY} ${targetX - bend} ${targetY} ${targetX} ${targetY}`} />;
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
