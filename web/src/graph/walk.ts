// Where the arrow keys lead: along what needs what, and up and down in a column.
import type { Box, Placed } from "./place";

export type Way = "before" | "after" | "above" | "below";

export function step(placed: Placed, from: string, way: Way): Box | undefined {
  const here = placed.boxes.find((b) => b.id === from);
  if (!here) return undefined;
  return way === "before" || way === "after" ? along(placed, here, way) : beside(placed, here, way);
}

// along follows a line, the nearest one in height first; from the first sprints of a phase
// back to the phase, and from the phase into it.
function along(placed: Placed, here: Box, way: "before" | "after"): Box | undefined {
  const byID = new Map(placed.boxes.map((b) => [b.id, b]));
  const ends = placed.lines.flatMap((l) => (way === "after" ? (l.from === here.id ? [byID.get(l.to)] : []) : l.to === here.id ? [byID.get(l.from)] : []));
  const middle = (b: Box) => Math.abs(b.y + b.high / 2 - here.y - here.high / 2);
  const found = ends.filter((b) => b !== undefined).sort((a, b) => middle(a) - middle(b))[0];
  if (found) return found;
  if (way === "before" && here.sprint >= 0) return placed.boxes.find((b) => b.sprint < 0 && b.group === here.group);
  if (way === "after" && here.open) return placed.boxes.find((b) => b.sprint >= 0 && b.group === here.group);
  return undefined;
}

// beside is the next box of the same kind in the column, else in the list.
function beside(placed: Placed, here: Box, way: "above" | "below"): Box | undefined {
  const by = way === "below" ? 1 : -1;
  const alike = placed.boxes.filter((b) => (here.sprint >= 0 ? b.sprint >= 0 && b.group === here.group : b.sprint < 0));
  const column = alike.filter((b) => b.x === here.x).sort((a, b) => a.y - b.y);
  return column[column.indexOf(here) + by] ?? alike[alike.indexOf(here) + by];
}
