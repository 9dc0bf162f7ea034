// Asks the worker for the layout.
import { useEffect, useState } from "react";
import { ownScript } from "../live";
import type { Ask, Placed, Shape } from "./place";
import type { Answer, Question } from "./place.worker";
import workerURL from "./place.worker?worker&url";

// Layout is the answer, and what was asked.
export interface Layout {
  ask: Ask;
  placed: Placed;
}

// useLayout is the newest layout that is there; the one before it while the next is made.
export function useLayout(shape: Shape, ask: Ask | null): Layout | null {
  const [worker, setWorker] = useState<Worker | null>(null);
  const [layout, setLayout] = useState<Layout | null>(null);
  useEffect(() => {
    const w = new Worker(ownScript(workerURL), { type: "module", name: "ralph layout" });
    w.postMessage({ shape } satisfies Question);
    setWorker(w);
    return () => w.terminate();
  }, [shape]);
  useEffect(() => {
    if (!worker || !ask) return;
    const number = Math.random();
    const hear = (m: MessageEvent<Answer>) => {
      if (m.data.number === number) setLayout({ ask, placed: m.data.placed });
    };
    worker.addEventListener("message", hear);
    worker.postMessage({ number, ask } satisfies Question);
    return () => worker.removeEventListener("message", hear);
  }, [worker, ask]);
  return layout;
}
