// Figures, as people read them.
import assert from "node:assert/strict";
import test from "node:test";
import { lasted } from "../src/words";

test("durations below a minute have one unit", () => {
  const want: [number, string][] = [
    [0, "0 s"],
    [7, "0.1 s"],
    [182, "0.2 s"],
    [949, "0.9 s"],
    [950, "1 s"],
    [1499, "1 s"],
    [59_000, "59 s"],
    [60_000, "1 min"],
    [12_000_000, "3 h 20"],
  ];
  for (const [ms, text] of want) assert.equal(lasted(ms), text, `${ms} ms`);
});
