// The layout beside the page: a large epic does not hold up what one types.
import { place, type Ask, type Placed, type Shape } from "./place";

export type Question = { shape: Shape } | { number: number; ask: Ask };
export interface Answer {
  number: number;
  placed: Placed;
}

let shape: Shape | null = null;

addEventListener("message", (m: MessageEvent<Question>) => {
  if ("shape" in m.data) {
    shape = m.data.shape;
  } else if (shape) {
    postMessage({ number: m.data.number, placed: place(shape, m.data.ask) } satisfies Answer);
  }
});
