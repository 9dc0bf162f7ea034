// What leads through a graph that is too large to look at.
import type { Shown } from "../pages/graph";
import { useKeys } from "../keys";
import { count, whole } from "../words";
import { useAll } from "./board";
import { hasNeed, type Need } from "./view";

const needs: [Need, string, string][] = [
  ["waits", "next for you", "n"],
  ["failed", "next failed", "N"],
  ["running", "next at work", "w"],
];

export function Steps({ model, board, view }: Shown) {
  useAll(board);
  useKeys({
    n: () => view.next("waits"),
    N: () => view.next("failed"),
    w: () => view.next("running"),
    "/": () => document.getElementById("find")?.focus(),
  });
  const of = (need: Need) => model.sprints.reduce((n, _, i) => n + (hasNeed(board, i, need) ? 1 : 0), 0);
  const only = model.sprints[view.only];
  return (
    <div className="filter steps">
      <div className="buttons" role="group" aria-label="Go to">
        {needs.map(([need, name, key]) => {
          const n = of(need);
          return (
            <button key={need} type="button" className="small" disabled={n === 0} onClick={() => view.next(need)}>
              {name} <span className="count">{whole(n)}</span>
              <kbd aria-hidden="true">{key}</kbd>
            </button>
          );
        })}
        <button type="button" className="small" aria-pressed={view.critical} onClick={() => view.setCritical(!view.critical)}>
          critical path <span className="count">{whole(model.critical.size)}</span>
        </button>
      </div>
      {only ? (
        <span>
          Only two steps around <span className="key">{only.key}</span>:{" "}
          <button type="button" className="small" onClick={() => view.setOnly(-1)}>
            show all
          </button>
        </span>
      ) : (
        <span className="faint">
          {count(model.sprints.length, "sprint")} in {count(model.groups.length, "phase")}
        </span>
      )}
    </div>
  );
}
