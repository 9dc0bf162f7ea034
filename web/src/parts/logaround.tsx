// What is around a hit in a log, with the numbers of the lines.
import { memo, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { FileHit } from "../api";
import { Failure, getPiece } from "../client";
import { lineBegin, linesAround, type Part } from "../lines";
import { plainLine } from "../reveal";
import { api } from "../route";
import { bytes, whole } from "../words";
import { Trouble } from "./basics";
import type { LogOf } from "./log";

const around = 32 << 10; // bytes before and behind a hit that are asked for
const more = 128 << 10; // and when one reads on

interface Piece {
  from: number;
  bytes: Uint8Array;
  size: number; // of the file
  known: FileHit; // whose line is known
}

export function Around({ of, hits, hit, onEnd }: { of: LogOf; hits: FileHit[]; hit: FileHit; onEnd: () => void }) {
  const box = useRef<HTMLDivElement>(null);
  const below = useRef(0); // height below the top when earlier lines were asked for
  const { piece, lines, there, failure, extend } = usePiece(api.file(of.epic, of.sprint, of.step, of.attempt, of.file), hits, hit);
  const start = piece ? piece.from + lineBegin(piece.bytes, piece.from, piece.known.at) : 0;
  const end = piece ? piece.from + piece.bytes.length : 0;
  useLayoutEffect(() => {
    const [b, mark] = [box.current, box.current?.querySelector("[aria-current]")];
    if (!b || !mark || !there) return;
    b.scrollTop += mark.getBoundingClientRect().top - b.getBoundingClientRect().top - b.clientHeight / 3;
  }, [hit, there]);
  useLayoutEffect(() => {
    if (box.current && below.current > 0) box.current.scrollTop = box.current.scrollHeight - below.current;
    below.current = 0;
  }, [piece]);
  const earlier = () => {
    if (box.current) below.current = box.current.scrollHeight - box.current.scrollTop;
    extend(-1);
  };
  return (
    <div className="log">
      {failure && <Trouble failure={failure} what={of.file} />}
      <div className="logbox numbered" ref={box} tabIndex={0} role="region" aria-label={`Log ${of.file}, around line ${whole(hit.line)}`}>
        {start > 0 && (
          <button type="button" className="small" onClick={earlier}>
            {bytes(start)} before this
          </button>
        )}
        {lines.map((l) => (
          <Line key={l.at} number={l.number} parts={l.parts} at={l.parts.some((p) => p.hit === hit.at) ? hit.at : -1} />
        ))}
        {piece && end < piece.size && (
          <button type="button" className="small" onClick={() => extend(1)}>
            {bytes(piece.size - end)} behind this
          </button>
        )}
      </div>
      <p className="logbar">
        <button type="button" className="small" onClick={onEnd}>
          to the end of the log<kbd aria-hidden="true">Esc</kbd>
        </button>
      </p>
    </div>
  );
}

// at is the hit that is the present one, by its byte; -1: it is in another line.
const Line = memo(function Line({ number, parts, at }: { number: number; parts: Part[]; at: number }) {
  return (
    <div className="l" data-is={number || undefined}>
      {parts.map((p, i) =>
        p.hit >= 0 ? (
          <mark key={i} aria-current={p.hit === at ? "true" : undefined}>
            {plainLine(p.text)}
          </mark>
        ) : (
          plainLine(p.text)
        ),
      )}
      {parts.length === 0 && " "}
    </div>
  );
});

// usePiece is what is around a hit, in lines, and more of it if one asks.
function usePiece(path: string, hits: FileHit[], hit: FileHit) {
  const [piece, setPiece] = useState<Piece | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const lines = useMemo(() => (piece ? linesAround(piece.bytes, piece.from, piece.from + piece.bytes.length >= piece.size, piece.known, hits) : []), [piece, hits]);
  const there = lines.some((l) => l.parts.some((p) => p.hit === hit.at));
  const fail = (x: unknown) => {
    if (x instanceof Failure) setFailure(x);
  };
  useEffect(() => {
    if (there) return;
    let wanted = true;
    getPiece(path, Math.max(0, hit.at - around), hit.at + hit.length + around)
      .then((p) => wanted && setPiece({ ...p, known: hit }))
      .catch((x: unknown) => wanted && fail(x));
    return () => {
      wanted = false;
    };
  }, [path, hit, there]);
  const extend = (to: 1 | -1) => {
    if (!piece) return;
    const end = piece.from + piece.bytes.length;
    const from = Math.max(0, piece.from - more);
    getPiece(path, to > 0 ? end : from, to > 0 ? end + more : piece.from)
      .then((p) => setPiece((was) => (was === piece ? { ...was, from: Math.min(was.from, p.from), size: p.size, bytes: joined(to > 0 ? [was.bytes, p.bytes] : [p.bytes, was.bytes]) } : was)))
      .catch(fail);
  };
  return { piece, lines, there, failure, extend };
}

function joined([a, b]: [Uint8Array, Uint8Array]): Uint8Array {
  const out = new Uint8Array(a.length + b.length);
  out.set(a);
  out.set(b, a.length);
  return out;
}
