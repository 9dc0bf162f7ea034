// The journal of an epic, newest first.
import { useEffect, useState } from "react";
import type { Epic, Entry, Log } from "../api";
import { Clock, Loaded, Title, Trouble } from "../parts/basics";
import { EpicTabs } from "../parts/epictabs";
import { Failure, get, parse } from "../client";
import { useResource } from "../resource";
import { api, note, to } from "../route";
import { each, whole } from "../words";

export function JournalPage({ epic, query }: { epic: string; query: URLSearchParams }) {
  const e = useResource<Epic>(api.epic(epic)).data;
  return (
    <>
      <Title short text={e ? `Journal: ${e.title}` : "Journal"} />
      <EpicTabs epic={epic} at="Journal" />
      <OfKind epic={epic} kind={query.get("kind") ?? ""} />
    </>
  );
}

// OfKind is the journal of an epic, or those of its events that are of a kind.
function OfKind({ epic, kind }: { epic: string; kind: string }) {
  const kinds = useResource<Log>(api.log(epic, "")).data?.kinds; // a report has none
  return (
    <>
      {kinds && (
        <label className="choose">
          Events{" "}
          <select value={kind} onChange={(e) => note("kind", e.target.value)}>
            <option value="">of all kinds</option>
            {kind && !(kind in kinds) && <option value={kind}>{kind}</option>}
            {Object.entries(kinds).map(([k, n]) => (
              <option key={k} value={k}>
                {k} ({whole(n)})
              </option>
            ))}
          </select>
        </label>
      )}
      <Journal key={kind} epic={epic} sprint="" kind={kind} />
    </>
  );
}

// Journal is what happened to an epic, or to one sprint.
export function Journal({ epic, sprint, kind = "" }: { epic: string; sprint: string; kind?: string }) {
  const newest = useResource<Log>(api.log(epic, sprint, kind));
  const { entries, before, more, failure } = useEntries(newest.data, (from) => api.log(epic, sprint, kind, from));
  return (
    <Loaded of={newest} what="The journal">
      {() => (
        <>
          <ol className="plain journal">
            {entries.map((x) => (
              <Line key={x.seq} entry={x} epic={epic} link={sprint === ""} />
            ))}
          </ol>
          {entries.length === 0 && <p className="faint">{kind ? "Nothing of this kind has happened yet." : "Nothing has happened yet."}</p>}
          {failure && <Trouble failure={failure} />}
          {before > 0 && (
            <button type="button" onClick={() => void more()}>
              older
            </button>
          )}
        </>
      )}
    </Loaded>
  );
}

// useEntries keeps what was shown when newer entries push it out of the newest page. If so
// many came at once that some are missing between, it begins anew.
function useEntries(newest: Log | undefined, older: (before: number) => string) {
  const [kept, setKept] = useState<{ entries: Entry[]; before: number }>({ entries: [], before: 0 });
  const [failure, setFailure] = useState<Failure | null>(null);
  useEffect(() => {
    if (!newest) return;
    const first = each(newest.entries);
    const oldest = first[first.length - 1]?.seq ?? 0;
    setKept((k) => {
      const joins = k.entries.some((x) => x.seq >= oldest);
      if (!joins) return { entries: first, before: newest.before };
      return { entries: [...first, ...k.entries.filter((x) => x.seq < oldest)], before: k.before };
    });
  }, [newest]);
  const more = async () => {
    try {
      const page = parse<Log>((await get(older(kept.before), "")).text);
      setKept((k) => ({ entries: [...k.entries, ...each(page.entries).filter((x) => x.seq < (k.entries[k.entries.length - 1]?.seq ?? Infinity))], before: page.before }));
    } catch (x) {
      if (x instanceof Failure) setFailure(x);
    }
  };
  return { ...kept, more, failure };
}

function Line({ entry: x, epic, link }: { entry: Entry; epic: string; link: boolean }) {
  return (
    <li>
      <Clock at={x.at} seconds />
      {link && x.key ? (
        <a href={to.sprint(epic, x.key)} data-row="" className="key">
          {x.key}
        </a>
      ) : (
        <span className="key">{link ? "" : null}</span>
      )}
      <span className="text">{x.text}</span>
    </li>
  );
}
