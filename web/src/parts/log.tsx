// A log of an attempt: its end first, followed while it is being written.
import { memo, useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore, type KeyboardEvent } from "react";
import { Failure, getPiece } from "../client";
import { Lines, wholeLines } from "../lines";
import { api } from "../route";
import { refused } from "../live";
import { useStore } from "../store";
import { readStream, Refusal } from "../stream";
import { token } from "../token";
import { bytes, count, whole } from "../words";
import { Trouble } from "./basics";

const moving = 300; // ms
const piece = 1 << 20; // bytes that are asked for at once

export interface LogOf {
  epic: string;
  sprint: string;
  step: string;
  attempt: number;
  file: string;
  live: boolean; // it is being written
  onLines?: () => void; // some were written just now
}

export function LogView(of: LogOf) {
  const { lines, start, earlier, failure, ended } = useLog(of);
  useSyncExternalStore(lines.watch, lines.get);
  const box = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState(-1); // lines there were when following stopped; -1: it follows
  const before = useRef(0); // height below the top when earlier lines were asked for
  const moved = useRef(-moving); // when the reader began to scroll: until the browser says where to, nothing is followed
  const moves = () => {
    moved.current = performance.now();
  };
  useLayoutEffect(() => {
    const b = box.current;
    if (!b) return;
    if (before.current > 0) b.scrollTop = b.scrollHeight - before.current;
    else if (seen < 0 && performance.now() - moved.current > moving) b.scrollTop = b.scrollHeight;
    before.current = 0;
  });
  const scrolled = () => {
    const b = box.current;
    if (!b) return;
    const atEnd = b.scrollHeight - b.scrollTop - b.clientHeight < 12;
    setSeen((s) => (atEnd ? -1 : s < 0 ? lines.count + lines.dropped : s));
  };
  // Also where all of it is in sight, and the browser has nothing to scroll.
  const press = (e: KeyboardEvent) => {
    moves();
    if (e.key === "Home" || e.key === "PageUp" || e.key === "ArrowUp") setSeen((s) => (s < 0 ? lines.count + lines.dropped : s));
    if (e.key === "End") toEnd();
  };
  const toEnd = () => {
    moved.current = -moving;
    setSeen(-1);
    box.current?.focus();
  };
  const more = () => {
    const b = box.current;
    if (b) before.current = b.scrollHeight - b.scrollTop;
    setSeen((s) => (s < 0 ? lines.count + lines.dropped : s));
    void earlier();
  };
  const fresh = seen < 0 ? 0 : lines.count + lines.dropped - seen;
  return (
    <div className="log">
      {failure && <Trouble failure={failure} what={of.file} />}
      <div className="logbox" ref={box} onScroll={scrolled} onWheel={moves} onKeyDown={press} onPointerDown={moves} onTouchMove={moves} tabIndex={0} role="region" aria-label={`Log ${of.file}`}>
        {start > 0 && (
          <button type="button" className="small" onClick={more}>
            {bytes(start)} before this
          </button>
        )}
        {lines.dropped > 0 && <p className="faint">{whole(lines.dropped)} older lines are not kept here</p>}
        {lines.blocks.map((text, i) => (
          <Block key={i} text={text} />
        ))}
        {lines.count === 0 && !failure && <p className="faint">{of.live && !ended ? "Nothing has been written yet." : "It is empty."}</p>}
      </div>
      <p className="logbar">
        {seen >= 0 && of.live && !ended ? (
          <button type="button" className="small" onClick={toEnd}>
            paused, {count(fresh, "new line")}: to the end
          </button>
        ) : (
          <span className="faint">{of.live && !ended ? "following as it is written" : `${count(lines.count, "line")}`}</span>
        )}
      </p>
    </div>
  );
}

const Block = memo(function Block({ text }: { text: string }) {
  return <pre className="block">{text}</pre>;
});

interface LogState {
  lines: Lines;
  start: number; // byte of the file at which what is shown begins
  earlier: () => Promise<void>;
  failure: Failure | null;
  ended: boolean;
}

function useLog({ epic, sprint, step, attempt, file, live, onLines }: LogOf): LogState {
  const path = api.file(epic, sprint, step, attempt, file);
  const [lines, setLines] = useState(() => new Lines());
  const [start, setStart] = useState(0);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [ended, setEnded] = useState(false);
  const allowed = useStore(token);
  const told = useRef(onLines);
  useEffect(() => {
    told.current = onLines;
  });
  useEffect(() => {
    const stop = new AbortController();
    const fresh = new Lines();
    setLines(fresh);
    setFailure(null);
    setEnded(false);
    const run = async () => {
      const at = await readEnd(path, fresh, setStart, live, stop.signal);
      if (live) await follow((from) => api.tail(epic, sprint, step, attempt, file, from), at, fresh, stop.signal, () => told.current?.());
      if (!stop.signal.aborted) setEnded(true);
    };
    run().catch((x: unknown) => {
      if (!stop.signal.aborted && x instanceof Failure) setFailure(x);
    });
    return () => stop.abort();
  }, [epic, sprint, step, attempt, file, live, path, allowed]);
  const earlier = async () => {
    try {
      const from = Math.max(0, start - piece);
      const part = await getPiece(path, from, start);
      const { lines: before, skipped } = wholeLines(part.bytes, from === 0);
      lines.prepend(before);
      setStart(from + skipped);
    } catch (x) {
      if (x instanceof Failure) setFailure(x);
    }
  };
  return { lines, start, earlier, failure, ended };
}

// readEnd shows the end of a file, and returns the byte behind its last whole line.
async function readEnd(path: string, into: Lines, begin: (start: number) => void, live: boolean, stopped: AbortSignal): Promise<number> {
  let size = 0;
  try {
    size = (await getPiece(path, 0, 1)).size;
  } catch (x) {
    if (!live || !(x instanceof Failure) || x.status !== 404) throw x;
    return 0; // its program has not begun to write
  }
  const part = await getPiece(path, Math.max(0, size - piece), Math.max(1, size));
  if (stopped.aborted) return 0;
  const { lines, skipped } = wholeLines(part.bytes, part.from === 0);
  begin(part.from + skipped);
  const last = part.bytes.lastIndexOf(10) + 1;
  if (live && last < part.bytes.length) lines.pop(); // it follows when it is whole
  into.append(lines);
  return part.from + last;
}

// follow appends what is written from a byte on, until the file's end is said.
async function follow(path: (from: number) => string, from: number, into: Lines, stopped: AbortSignal, came: () => void): Promise<void> {
  let ended = false;
  while (!ended && !stopped.aborted) {
    try {
      await readStream(
        path(from),
        { Authorization: `Bearer ${token.get()}` },
        stopped,
        (m) => {
          if (m.event === "end") ended = true;
          if (m.event !== "line") return;
          if (/^\d+$/.test(m.id)) from = Number(m.id);
          into.append([(JSON.parse(m.data) as { text: string }).text.replace(/\n$/, "")]);
          came();
        },
        () => undefined,
      );
    } catch (x) {
      if (stopped.aborted) return;
      if (x instanceof Refusal && x.status === 401) refused.set(token.get());
      if (x instanceof Refusal && x.status >= 400 && x.status < 500) return;
    }
    if (!ended) await new Promise((done) => setTimeout(done, 1000));
  }
}
