// Figures, as people read them.
import assert from "node:assert/strict";
import test from "node:test";
import { ago, dollars, lasted } from "../src/words";

const s = 1000;
const min = 60 * s;
const h = 60 * min;

// The same is in app/words/amounts_test.go: texts of the server stand beside these.
test("durations are written as the server writes them", () => {
  const want: [number, string][] = [
    [-s, "0s"],
    [0, "0s"],
    [1, "0.1s"],
    [182, "0.2s"],
    [949, "0.9s"],
    [950, "1s"],
    [s, "1s"],
    [59_900, "59s"],
    [185 * s, "3m05s"],
    [130 * min, "2h10m"],
    [76 * h, "3d4h"],
  ];
  for (const [ms, text] of want) assert.equal(lasted(ms), text, `${ms} ms`);
});

test("how long something has been so has one unit", () => {
  const at = "2026-01-01T00:00:00Z";
  const want: [number, string][] = [
    [-s, "0s"],
    [59_900, "59s"],
    [185 * s, "3m"],
    [47 * h, "47h"],
    [76 * h, "3d"],
  ];
  for (const [ms, text] of want) assert.equal(ago(at, Date.parse(at) + ms), text, `${ms} ms`);
});

// The same is in app/words/amounts_test.go.
test("amounts are written as the server writes them", () => {
  const want: [number, string][] = [
    [0, "$0.00"],
    [1, "$0.0000"],
    [4_200, "$0.0042"],
    [9_999, "$0.0100"],
    [10_000, "$0.01"],
    [1_234_567, "$1.23"],
  ];
  for (const [micro, text] of want) assert.equal(dollars(micro), text, `${micro} millionths`);
});
