// Finding a text in a log. The server counts the hits in all of the file; what is around the
// present one is shown in place of the log's end, wherever in the file it is.
import { useEffect, useRef, useState, type KeyboardEvent } from "react";
import type { FileSearch } from "../api";
import { Failure, get, parse } from "../client";
import { frozen } from "../frozen";
import { useKeys } from "../keys";
import { api } from "../route";
import { bytes, whole } from "../words";
import { Trouble } from "./basics";
import { LogView, type LogOf } from "./log";
import { Around } from "./logaround";

const patience = 250; // ms after the last key, until it is looked for
const page = 100; // hits that are asked for at once

// LogWithFind is a log in which a text can be found. A report has no server that would.
export function LogWithFind(of: LogOf) {
  return frozen ? <LogView {...of} /> : <Finding key={api.file(of.epic, of.sprint, of.step, of.attempt, of.file)} {...of} />;
}

function Finding(of: LogOf) {
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState("");
  const { found, next, failure } = useFound(of, text);
  const hit = found?.answer.hits.find((h) => h.number === found.at);
  const leave = () => {
    setText("");
    input.current?.blur();
  };
  useKeys(
    {
      f: () => input.current?.select(),
      n: () => text !== "" && next(1),
      N: () => text !== "" && next(-1),
      Escape: () => text !== "" && leave(),
    },
    true,
  );
  const press = (e: KeyboardEvent) => {
    if (e.key !== "Enter" || e.nativeEvent.isComposing || text === "") return;
    e.preventDefault();
    next(e.shiftKey ? -1 : 1);
  };
  return (
    <>
      <div className="filter logfind" role="search" aria-label="In this log">
        <input ref={input} type="search" aria-label="Find in this log" placeholder="find in this log: f" maxLength={200} value={text} onChange={(e) => setText(e.target.value)} onKeyDown={press} />
        {text && (
          <span className="buttons">
            <button type="button" className="small" onClick={() => next(-1)}>
              previous<kbd aria-hidden="true">N</kbd>
            </button>
            <button type="button" className="small" onClick={() => next(1)}>
              next<kbd aria-hidden="true">n</kbd>
            </button>
          </span>
        )}
        <span role="status">{text && found?.query === text ? said(found.at, found.answer) : ""}</span>
      </div>
      {failure && <Trouble failure={failure} what="Finding" />}
      {text && hit ? <Around of={of} hits={found?.answer.hits ?? []} hit={hit} onEnd={leave} /> : <LogView {...of} />}
    </>
  );
}

// said is which hit is shown, of how many.
function said(at: number, { total, searched, size }: FileSearch): string {
  const some = searched < size ? `at least ${whole(total)}` : whole(total);
  const note = searched < size ? ` in the first ${bytes(searched)}; the rest was not searched` : "";
  return total === 0 ? `not found${note}` : `${whole(at)} of ${some}${note}`;
}

interface Found {
  query: string;
  at: number; // of the present hit; 0: there is none
  answer: FileSearch;
}

// useFound looks for a text a moment after it was typed; next goes on to the next hit, or with
// -1 to the previous one, and round the ends.
function useFound({ epic, sprint, step, attempt, file, live }: LogOf, text: string) {
  const [found, setFound] = useState<Found | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const asked = useRef<AbortController | null>(null);
  const sought = useRef(""); // what was looked for last
  const aim = useRef(0); // the number of the hit that was asked for last
  const ask = async (query: string, after: number, stop: AbortSignal) =>
    parse<FileSearch>((await get(`${api.attempt(epic, sprint, step, attempt)}/search?${new URLSearchParams({ file, q: query, after: String(after), limit: String(page) })}`, "", stop)).text);
  const look = async (query: string, wanted: number, stop: AbortSignal) => {
    const from = (n: number) => Math.max(0, n - 1 - page / 2);
    let answer = await ask(query, from(wanted), stop);
    const at = answer.total === 0 ? 0 : wanted < 1 ? answer.total : wanted > answer.total ? 1 : wanted;
    if (at > 0 && !answer.hits.some((h) => h.number === at)) answer = await ask(query, from(at), stop);
    if (stop.aborted) return;
    aim.current = at;
    setFound({ query, at, answer });
  };
  const seek = (wanted: number) => {
    asked.current?.abort();
    sought.current = text;
    aim.current = wanted;
    setFailure(null);
    const known = found?.query === text && found.answer.hits.some((h) => h.number === wanted);
    if (known && !live) return setFound({ ...found, at: wanted });
    const stop = new AbortController();
    asked.current = stop;
    look(text, wanted, stop.signal).catch((x: unknown) => {
      if (!stop.signal.aborted && x instanceof Failure) setFailure(x);
    });
  };
  const next = (by: 1 | -1) => seek(sought.current === text ? aim.current + by : by > 0 ? 1 : 0);
  const latest = useRef(seek);
  useEffect(() => {
    latest.current = seek;
  });
  useEffect(() => {
    asked.current?.abort();
    sought.current = "";
    setFailure(null);
    if (text === "") return setFound(null);
    const timer = setTimeout(() => {
      if (sought.current !== text) latest.current(1); // else Enter was faster
    }, patience);
    return () => clearTimeout(timer);
  }, [text]);
  useEffect(() => () => asked.current?.abort(), []);
  return { found, next, failure };
}
