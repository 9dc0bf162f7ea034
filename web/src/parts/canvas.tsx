// What the pictures of the graph and of the runs have in common: React Flow, which draws
// the boxes that are in sight, and the one box that Tab stops at.
import { useCallback, useEffect, useRef, useState } from "react";
import { Background, Controls, ReactFlow, useReactFlow, type Edge, type Node, type ReactFlowProps } from "@xyflow/react";
import "@xyflow/react/dist/base.css";
import "./canvas.css";

// Spot is a box and where it stands.
export interface Spot {
  id: string;
  x: number;
  y: number;
  wide: number;
  high: number;
}

export type Flowing = ReturnType<typeof useReactFlow>;
export type BoxRef = React.RefObject<HTMLDivElement | null>;

const narrow = matchMedia("(max-width: 40rem)");

export const domID = (id: string): string => `box-${id}`;
export const fit = { padding: 0.04, maxZoom: 1 };

interface Props<N extends Node, E extends Edge> extends ReactFlowProps<N, E> {
  box: BoxRef; // around it
  moved: () => void; // what is in sight may be something else
}

// Canvas is React Flow as both pictures have it: it shows, and changes nothing.
export function Canvas<N extends Node, E extends Edge>({ box, moved, children, ...props }: Props<N, E>) {
  return (
    <ReactFlow<N, E>
      onMoveStart={() => box.current?.classList.add("moving")}
      onMoveEnd={() => {
        box.current?.classList.remove("moving");
        moved();
      }}
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
      {...props}
    >
      <Background gap={24} size={1} />
      <Controls showInteractive={false} orientation={narrow.matches ? "horizontal" : "vertical"} />
      {children}
    </ReactFlow>
  );
}

// placed has all that React Flow would otherwise measure: it draws only what is in sight of
// the first picture, too.
export const placed = (s: Spot): Pick<Node, "id" | "position" | "width" | "height" | "measured"> => ({
  id: s.id,
  position: { x: s.x, y: s.y },
  width: s.wide,
  height: s.high,
  measured: { width: s.wide, height: s.high },
});

// inSight reports whether all of a box, or of its upper part, is.
export function inSight(s: Spot, flow: Flowing, box: HTMLElement, high = s.high): boolean {
  const { x, y, zoom } = flow.getViewport();
  const [left, top] = [s.x * zoom + x, s.y * zoom + y];
  return left >= 0 && top >= 0 && left + s.wide * zoom <= box.clientWidth && top + high * zoom <= box.clientHeight;
}

// focusSoon waits until the box is drawn.
export function focusSoon(id: string, tries = 10): void {
  const e = document.getElementById(domID(id));
  if (e) return e.focus({ preventScroll: true });
  if (tries > 0) requestAnimationFrame(() => focusSoon(id, tries - 1));
}

// useStop is the one box that Tab stops at: the chosen one, else the first in sight of those
// that may be it; and whether all of the picture is in sight.
export function useStop<S extends Spot>(boxes: S[], chosen: string, flow: Flowing, box: BoxRef, may: (s: S) => boolean = () => true): { stop: string; whole: boolean; find: () => void } {
  const [first, setFirst] = useState("");
  const [whole, setWhole] = useState(true);
  const look = useRef<() => string>(() => "");
  look.current = () => {
    const { x, y, zoom } = flow.getViewport();
    const [wide, high] = [box.current?.clientWidth ?? 0, box.current?.clientHeight ?? 0];
    const seen = (b: Spot) => b.x * zoom + x < wide && b.y * zoom + y < high && (b.x + b.wide) * zoom + x > 0 && (b.y + b.high) * zoom + y > 0;
    const far = (of: (b: Spot) => number) => boxes.reduce((n, b) => Math.max(n, of(b)), 0);
    setWhole(x >= 0 && y >= 0 && far((b) => b.x + b.wide) * zoom + x <= wide && far((b) => b.y + b.high) * zoom + y <= high);
    return (boxes.find((b) => b.id === chosen && seen(b)) ?? boxes.find((b) => may(b) && seen(b)) ?? boxes.find(seen))?.id ?? "";
  };
  const find = useCallback(() => setFirst(look.current()), []);
  useEffect(find, [find, boxes, chosen]);
  return { stop: first, whole, find };
}
