// Graph: what needs what. A list that does all of it, and the picture beside it.
import { useEffect, useMemo, useRef, useState } from "react";
import type { Graph, Statuses } from "../api";
import { Board } from "../graph/board";
import "../graph/graph.css";
import { List } from "../graph/list";
import { modelOf, type Model } from "../graph/model";
import { Steps } from "../graph/steps";
import { useView, type View } from "../graph/view";
import { Loaded, Title } from "../parts/basics";
import { EpicTabs, useEpicLine } from "../parts/epictabs";
import { later } from "../parts/later";
import { useResource } from "../resource";
import { api } from "../route";

const narrow = matchMedia("(max-width: 40rem)");

const load = async () => (await import("../graph/picture")).Picture;
const Picture = later(load);
if (!narrow.matches) load().catch(() => undefined); // beside the graph; a failure shows where the picture would

export function GraphPage({ epic, query }: { epic: string; query: URLSearchParams }) {
  const e = useEpicLine(epic);
  const graph = useResource<Graph>(api.graph(epic));
  useResource<Statuses>(api.status(epic)); // asked for beside it
  return (
    <>
      <Title short text={e ? `Graph: ${e.title}` : "Graph"} />
      <EpicTabs epic={epic} at="Graph" />
      <Loaded of={graph} what="The graph">
        {(g) => <Whole epic={epic} graph={g} query={query} />}
      </Loaded>
    </>
  );
}

function Whole({ epic, graph, query }: { epic: string; graph: Graph; query: URLSearchParams }) {
  const model = useMemo(() => modelOf(graph), [graph]);
  const board = useMemo(() => new Board(model), [model]);
  const status = useResource<Statuses>(api.status(epic));
  const known = useRef<Board | null>(null);
  if (status.data && known.current !== board) {
    known.current = board;
    board.take(status.data); // nothing is drawn before it is known
  }
  useEffect(() => {
    if (status.data) board.take(status.data);
  }, [board, status.data]);
  return (
    <Loaded of={status} what="The statuses">
      {() => <Both key={`${epic} ${graph.digest}`} epic={epic} model={model} board={board} query={query} />}
    </Loaded>
  );
}

export interface Shown {
  epic: string;
  model: Model;
  board: Board;
  view: View;
}

function Both({ epic, model, board, query }: { epic: string; model: Model; board: Board; query: URLSearchParams }) {
  const view = useView(epic, model, board, query, narrow.matches);
  const [drawn, setDrawn] = useState(!narrow.matches);
  const shown = { epic, model, board, view };
  return (
    <>
      <Steps {...shown} />
      <div className="graph">
        <List {...shown} />
        {drawn ? (
          <Picture {...shown} />
        ) : (
          <p>
            <button type="button" onClick={() => setDrawn(true)}>
              show the picture
            </button>
          </p>
        )}
      </div>
    </>
  );
}
