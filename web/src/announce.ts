// What is said to people who do not see the page: at most one message a second.
import { Store } from "./store";

export const said = new Store("");

let waiting: string[] = [];
let free = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

export function announce(text: string): void {
  waiting.push(text);
  timer ??= setTimeout(speak, Math.max(0, free - performance.now()));
}

function speak(): void {
  timer = undefined;
  free = performance.now() + 1000;
  const last = waiting[waiting.length - 1] ?? "";
  const others = waiting.length - 1;
  waiting = [];
  said.set(others > 0 ? `${last}; and ${others} more` : last);
}
