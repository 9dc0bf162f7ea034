// The picture: React Flow draws the boxes that are in sight; the lines are one drawing.
import { memo, useCallback, useEffect, useMemo, useRef, useState, type KeyboardEvent } from "react";
import { Background, Controls, MiniMap, ReactFlow, ReactFlowProvider, ViewportPortal, useReactFlow, type Node, type NodeTypes } from "@xyflow/react";
import "@xyflow/react/dist/base.css";
import type { Shown } from "../pages/graph";
import { go, to } from "../route";
import { GroupBox, MiniBox, Of, SprintBox, domID, type Context } from "./boxes";
import { useLayout, type Layout } from "./layout";
import { groupID, sprintID, type Box, type Line, type Placed } from "./place";
import { step, type Way } from "./walk";

const nodeTypes: NodeTypes = { sprint: SprintBox, phase: GroupBox };
const mostInMap = 500; // boxes
const none: never[] = [];

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
  const { stop, whole, find: findStop } = useStop(placed, chosen, flow, box);
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
          <ReactFlow
            nodes={nodes}
            edges={none}
            nodeTypes={nodeTypes}
            onMoveStart={() => box.current?.classList.add("moving")}
            onMoveEnd={() => {
              box.current?.classList.remove("moving");
              findStop();
            }}
            onInit={() => {
              findStop();
              setReady(true);
            }}
            onNodeDoubleClick={(_, n) => n.type === "sprint" && go(to.sprint(epic, model.sprints[Number(n.id.slice(1))]?.key ?? ""))}
            fitView
            fitViewOptions={fit}
            minZoom={0.04}
            maxZoom={1.5}
            colorMode="system"
            onlyRenderVisibleElements
            nodesDraggable={false}
            nodesConnectable={false}
            nodesFocusable={false}
            edgesFocusable={false}
            elementsSelectable={false}
            zoomOnDoubleClick={false}
            disableKeyboardA11y
            deleteKeyCode={null}
            selectionKeyCode={null}
            multiSelectionKeyCode={null}
            panActivationKeyCode={null}
            zoomActivationKeyCode={null}
          >
            <Background gap={24} size={1} />
            <Controls showInteractive={false} />
            {!whole && nodes.length <= mostInMap && <MiniMap nodeComponent={MiniBox} pannable zoomable ariaLabel="The whole graph, small" />}
            <Lines placed={placed} critical={view.critical ? model.critical : null} chosen={chosen} />
          </ReactFlow>
        )}
      </Of>
    </div>
  );
}

const fit = { padding: 0.04, maxZoom: 1 };
const ways: Record<string, Way> = { ArrowLeft: "before", ArrowRight: "after", ArrowUp: "above", ArrowDown: "below" };

// nodesOf have all that React Flow would otherwise measure: it draws only what is in sight
// of the first, too.
function nodesOf(boxes: Box[]): Node[] {
  return boxes.map((b) => ({
    id: b.id,
    type: b.sprint >= 0 ? "sprint" : "phase",
    position: { x: b.x, y: b.y },
    width: b.wide,
    height: b.high,
    measured: { width: b.wide, height: b.high },
    handles: [],
    zIndex: b.open ? -2 : 0,
    data: { open: b.open },
  }));
}

type Flowing = ReturnType<typeof useReactFlow>;
type BoxRef = React.RefObject<HTMLDivElement | null>;

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
      if (view.seek.focus) focusSoon(target.id, 10);
    });
    return () => cancelAnimationFrame(frame);
  }, [layout, wants, view.seek, view.only, flow, box, anchor]);
}

const readable = 0.55; // zoom

// show moves a box into view, if it is not there.
function show(target: Box, flow: Flowing, box: HTMLElement | null): void {
  if (!box) return;
  const { x, y, zoom } = flow.getViewport();
  const high = target.open ? 60 : target.high;
  const [left, top] = [target.x * zoom + x, target.y * zoom + y];
  const inSight = left >= 0 && top >= 0 && left + target.wide * zoom <= box.clientWidth && top + high * zoom <= box.clientHeight;
  if (inSight && (zoom >= readable || target.sprint < 0)) return;
  void flow.setCenter(target.x + target.wide / 2, target.y + high / 2, { zoom: target.sprint < 0 ? zoom : Math.max(zoom, 0.8) });
}

// focusSoon waits until the box is drawn.
function focusSoon(id: string, tries: number): void {
  const e = document.getElementById(domID(id));
  if (e) return e.focus({ preventScroll: true });
  if (tries > 0) requestAnimationFrame(() => focusSoon(id, tries - 1));
}

// useStop is the one box that Tab stops at: the chosen one, else the first in sight; and
// whether all of the picture is.
function useStop(placed: Placed | undefined, chosen: string, flow: Flowing, box: BoxRef): { stop: string; whole: boolean; find: () => void } {
  const [first, setFirst] = useState("");
  const [whole, setWhole] = useState(true);
  const inSight = useRef<() => string>(() => "");
  inSight.current = () => {
    const { x, y, zoom } = flow.getViewport();
    const [wide, high] = [box.current?.clientWidth ?? 0, box.current?.clientHeight ?? 0];
    const seen = (b: Box) => b.x * zoom + x < wide && b.y * zoom + y < high && (b.x + b.wide) * zoom + x > 0 && (b.y + b.high) * zoom + y > 0;
    const all = placed?.boxes ?? [];
    setWhole(!placed || (x >= 0 && y >= 0 && placed.wide * zoom + x <= wide && placed.high * zoom + y <= high));
    return (all.find((b) => b.id === chosen && seen(b)) ?? all.find((b) => !b.open && seen(b)) ?? all.find(seen))?.id ?? "";
  };
  const find = useCallback(() => setFirst(inSight.current()), []);
  useEffect(find, [find, placed, chosen]);
  return { stop: first, whole, find };
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
