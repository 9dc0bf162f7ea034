// The axis of the timeline.
import assert from "node:assert/strict";
import test from "node:test";
import { axisOf, breadth, ticksOf, type Span } from "../src/time/axis";

const minute = 60_000;
const span = (from: number, to: number): Span => ({ from: from * minute, to: to * minute });

test("idle hours are cut out, short breaks stay", () => {
  const axis = axisOf([span(0, 10), span(10.5, 20), span(500, 520), span(505, 515)]);
  assert.equal(axis.segments.length, 2);
  assert.deepEqual(axis.cuts.map((c) => [c.from / minute, c.to / minute]), [[20, 500]]);
  assert.ok(Math.abs((axis.segments[0]?.wide ?? 0) - (axis.segments[1]?.wide ?? 0)) < 1, "as long, as wide");
});

test("later is never further left, and all is on the axis", () => {
  const axis = axisOf([span(300, 301), span(0, 10), span(60, 61), span(62.5, 70)]);
  let last = 0;
  for (let t = -50; t < 400; t += 0.25) {
    const x = axis.x(t * minute);
    assert.ok(x >= last && x <= breadth + 0.001, `at ${t}`);
    last = x;
  }
  assert.equal(axis.x(-1), 0);
  assert.ok(Math.abs(axis.x(1e12) - breadth) < 0.001);
});

test("nothing, a moment, and a clock that was set back", () => {
  assert.equal(axisOf([]).x(5), 0);
  assert.equal(axisOf([span(5, 5)]).x(5 * minute), 0);
  assert.equal(axisOf([span(5, 3)]).segments.length, 1);
  assert.deepEqual(ticksOf(axisOf([]), 0), []);
});

test("a thousand breaks leave room for work", () => {
  const axis = axisOf(Array.from({ length: 1000 }, (_, i) => span(i * 600, i * 600 + 5)));
  assert.ok(axis.segments.reduce((sum, s) => sum + s.wide, 0) >= breadth * 0.69);
});

test("a run of seconds has ticks, too", () => {
  const all = ticksOf(axisOf([{ from: 1_234, to: 21_234 }]), 0);
  assert.deepEqual(
    all.map((t) => t.time),
    [5_000, 10_000, 15_000, 20_000],
  );
});

test("ticks are round times here, with room between", () => {
  const shift = 5.5 * 60 * minute;
  const all = ticksOf(axisOf([span(3, 237)]), shift);
  assert.ok(all.length >= 3 && all.length <= 9);
  for (const t of all) assert.equal((t.time + shift) % (30 * minute), 0);
  all.slice(1).forEach((t, i) => assert.ok(t.at - (all[i]?.at ?? 0) >= 70));
});
