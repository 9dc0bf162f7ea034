// The picture: React Flow draws the boxes that are in sight; the lines are one drawing.
import { memo, useCallback, useEffect, useMemo, useRef, useState, type KeyboardEvent } from "react";
import { MiniMap, ReactFlowProvider, ViewportPortal, useReactFlow, type Node, type NodeTypes } from "@xyflow/react";
import type { Shown } from "../pages/graph";
import { Canvas, fit, focusSoon, inSight, placed as spotted, useStop, type BoxRef, type Flowing } from "../parts/canvas";
import { go, to } from "../route";
import { GroupBox, MiniBox, Of, SprintBox, type Context } from "./boxes";
import { useLayout, type Layout } from "./layout";
import { groupID, sprintID, type Box, type Line, type Placed } from "./place";
import { step, type Way } from "./walk";

const nodeTypes: NodeTypes = { sprint: SprintBox, phase: GroupBox };
const mostInMap = 500; // boxes
const none: never[] = [];
const noBoxes: Box[] = [];
const shutOnes = (b: Box): boolean => !b.open;

export function Picture(shown: Shown) {
  return (
    <ReactFlowProvider>
      <Flow {...shown} />
    </ReactFlowProvider>
  );
}

function Flow({ epic, model, board, view }: Shown) {
  const layout = useLayout(model.shape, view.ask);
  const flow = useReactFlow();
  const box = useRef<HTMLDivElement>(null);
  const placed = layout?.placed;
  const nodes = useMemo(() => nodesOf(placed?.boxes ?? []), [placed]);
  const chosen = view.chosen >= 0 ? sprintID(view.chosen) : view.group >= 0 ? groupID(view.group) : "";
  const anchor = useRef<{ group: number; x: number; y: number } | null>(null);
  const toggle = useCallback(
    (group: number) => {
      const at = placed?.boxes.find((b) => b.id === groupID(group));
      anchor.current = at ? { group, x: at.x, y: at.y } : null;
      view.toggle(group);
      view.chooseGroup(group);
    },
    [placed, view],
  );
  const [ready, setReady] = useState(false);
  useSettling(ready ? layout : null, view, flow, box, anchor);
  const { stop, whole, find: findStop } = useStop(placed?.boxes ?? noBoxes, chosen, flow, box, shutOnes);
  const latest = useRef({ toggle, choose: view.choose });
  useEffect(() => {
    latest.current = { toggle, choose: view.choose };
  });
  const context = useMemo(
    (): Context => ({ epic, model, board, chosen, stop, critical: view.critical, toggle: (g) => latest.current.toggle(g), choose: (s) => latest.current.choose(s, { seek: false }) }),
    [epic, model, board, chosen, stop, view.critical],
  );
  const press = (e: KeyboardEvent) => {
    const at = (e.target as HTMLElement).dataset["box"];
    if (!at || !placed || e.ctrlKey || e.metaKey || e.altKey) return;
    const here = placed.boxes.find((b) => b.id === at);
    if (!here) return;
    const way = ways[e.key];
    if (way) {
      e.preventDefault();
      const there = step(placed, at, way);
      if (there) there.sprint >= 0 ? view.choose(there.sprint, { focus: true }) : view.chooseGroup(there.group);
    } else if (e.key === "o" || (e.key === "Enter" && here.sprint < 0)) {
      e.preventDefault();
      toggle(here.group);
    } else if (e.key === "Enter") {
      e.preventDefault();
      go(to.sprint(epic, model.sprints[here.sprint]?.key ?? ""));
    }
  };
  return (
    <div className="picturebox" ref={box} onKeyDown={press} role="group" aria-label="The graph as a picture: arrow keys follow what needs what, Enter opens">
      <Of value={context}>
        {placed && (
          <Canvas
            box={box}
            moved={findStop}
            nodes={nodes}
            edges={none}
            nodeTypes={nodeTypes}
            onInit={() => {
              findStop();
              setReady(true);
            }}
            onNodeDoubleClick={(_, n) => n.type === "sprint" && go(to.sprint(epic, model.sprints[Number(n.id.slice(1))]?.key ?? ""))}
            fitView
            fitViewOptions={fit}
          >
            {!whole && nodes.length <= mostInMap && <MiniMap nodeComponent={MiniBox} pannable zoomable ariaLabel="The whole graph, small" />}
            <Lines placed={placed} critical={view.critical ? model.critical : null} chosen={chosen} />
          </Canvas>
        )}
      </Of>
    </div>
  );
}

const ways: Record<string, Way> = { ArrowLeft: "before", ArrowRight: "after", ArrowUp: "above", ArrowDown: "below" };

function nodesOf(boxes: Box[]): Node[] {
  return boxes.map((b) => ({ ...spotted(b), type: b.sprint >= 0 ? "sprint" : "phase", handles: [], zIndex: b.open ? -2 : 0, data: { open: b.open } }));
}

// useSettling keeps the place: the box that was opened stays where it is, what is sought
// comes into view, another choice of sprints is shown as a whole.
function useSettling(layout: Layout | null, view: Shown["view"], flow: Flowing, box: BoxRef, anchor: React.RefObject<{ group: number; x: number; y: number } | null>): void {
  const only = useRef(view.only);
  const sought = useRef(view.seek.sprint >= 0 ? -1 : view.seek.times);
  const wants = view.ask;
  useEffect(() => {
    if (!layout || layout.ask !== wants) return; // the layout of what is shown now is under way
    const { boxes } = layout.placed;
    const find = (id: string) => boxes.find((b) => b.id === id);
    const was = anchor.current;
    anchor.current = null;
    const frame = requestAnimationFrame(() => {
      const now = was && find(groupID(was.group));
      if (was && now) {
        const v = flow.getViewport();
        void flow.setViewport({ ...v, x: v.x + (was.x - now.x) * v.zoom, y: v.y + (was.y - now.y) * v.zoom });
      }
      if (only.current !== view.only) {
        only.current = view.only;
        void flow.fitView(fit);
      }
      if (sought.current === view.seek.times) return;
      sought.current = view.seek.times;
      const target = find(view.seek.sprint >= 0 ? sprintID(view.seek.sprint) : groupID(view.seek.group));
      if (!target) return;
      show(target, flow, box.current);
      if (view.seek.focus) focusSoon(target.id);
    });
    return () => cancelAnimationFrame(frame);
  }, [layout, wants, view.seek, view.only, flow, box, anchor]);
}

const readable = 0.55; // zoom

// show moves a box into view, if it is not there.
function show(target: Box, flow: Flowing, box: HTMLElement | null): void {
  if (!box) return;
  const { zoom } = flow.getViewport();
  const high = target.open ? 60 : target.high;
  if (inSight(target, flow, box, high) && (zoom >= readable || target.sprint < 0)) return;
  void flow.setCenter(target.x + target.wide / 2, target.y + high / 2, { zoom: target.sprint < 0 ? zoom : Math.max(zoom, 0.8) });
}

// Lines are a few drawings of all of them: plain ones, those that only relate, those to
// other rows, the critical path, and those of the chosen box.
const Lines = memo(function Lines({ placed, critical, chosen }: { placed: Placed; critical: Set<number> | null; chosen: string }) {
  const join = useCallback((of: (l: Line) => boolean) => placed.lines.filter(of).map((l) => l.d).join(""), [placed]);
  const all = useMemo(() => [join((l) => !l.soft && !l.away), join((l) => !l.soft && l.away), join((l) => l.soft)], [join]);
  const main = useMemo(() => (critical ? join((l) => !l.soft && l.sprints.some(([a, b]) => critical.has(a) && critical.has(b))) : ""), [join, critical]);
  const own = useMemo(() => (chosen ? [join((l) => !l.soft && (l.from === chosen || l.to === chosen)), join((l) => l.soft && (l.from === chosen || l.to === chosen))] : []), [join, chosen]);
  return (
    <ViewportPortal>
      <svg className="lines" width={placed.wide} height={placed.high} aria-hidden="true">
        <path className="plain" d={all[0]} />
        <path className="away" d={all[1]} />
        <path className="soft" d={all[2]} />
        {main && <path className="main" d={main} />}
        {own[0] && <path className="own" d={own[0]} />}
        {own[1] && <path className="own soft" d={own[1]} />}
      </svg>
    </ViewportPortal>
  );
});
