// The layout on the page itself: Chromium starts no worker from a file.
import { useEffect, useState } from "react";
import type { Layout } from "../graph/layout";
import { place, type Ask, type Shape } from "../graph/place";

export function useLayout(shape: Shape, ask: Ask | null): Layout | null {
  const [layout, setLayout] = useState<Layout | null>(null);
  useEffect(() => {
    if (!ask) return;
    const timer = setTimeout(() => setLayout({ ask, placed: place(shape, ask) }));
    return () => clearTimeout(timer);
  }, [shape, ask]);
  return layout;
}
