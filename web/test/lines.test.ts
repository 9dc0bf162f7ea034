// The lines of a log around a hit.
import assert from "node:assert/strict";
import test from "node:test";
import { linesAround } from "../src/lines";

const file = new TextEncoder().encode("one\ntwo dü two\nthrée\nfour two\nfive");
const hits = [
  { at: 4, length: 3, line: 2 },
  { at: 12, length: 3, line: 2 },
  { at: 28, length: 3, line: 4 },
];

// said is a piece as text: number:line, with [hits].
const said = (from: number, to: number, known: number): string[] =>
  linesAround(file.subarray(from, to), from, to >= file.length, hits[known] ?? { at: 0, length: 0, line: 1 }, hits).map(
    (l) => `${l.number}:${l.parts.map((p) => (p.hit < 0 ? p.text : `[${p.text}]`)).join("")}`,
  );

test("all of a file", () => {
  for (const known of [0, 1, 2]) assert.deepEqual(said(0, file.length, known), ["1:one", "2:[two] dü [two]", "3:thrée", "4:four [two]", "5:five"]);
});

test("lines that are cut are left out, but for that of the hit", () => {
  assert.deepEqual(said(2, 34, 0), ["2:[two] dü [two]", "3:thrée", "4:four [two]"]);
  assert.deepEqual(said(5, 34, 1), ["2:wo dü [two]", "3:thrée", "4:four [two]"]);
  assert.deepEqual(said(10, 15, 1), ["2: [two]"]); // from the middle of a character
  assert.deepEqual(said(17, 31, 2), ["4:four [two]"]);
});

test("every piece around a hit has it, with its number", () => {
  for (const [known, hit] of hits.entries()) {
    for (let from = 0; from <= hit.at; from++) {
      for (let to = hit.at + hit.length; to <= file.length; to++) {
        const of = said(from, to, known).filter((l) => l.startsWith(`${hit.line}:`) && l.includes("[two]"));
        assert.equal(of.length, 1, `${from}..${to} of ${hit.at}`);
      }
    }
  }
});
