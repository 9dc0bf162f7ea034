// The journal of an epic, newest first.
import { useState } from "react";
import type { Epic, Entry, Log } from "../api";
import { Clock, Loaded, Title, Trouble } from "../parts/basics";
import { Failure, get, parse } from "../client";
import { useResource } from "../resource";
import { api, to } from "../route";
import { each } from "../words";

export function JournalPage({ epic }: { epic: string }) {
  const e = useResource<Epic>(api.epic(epic)).data;
  return (
    <>
      <Title text={e ? `Journal: ${e.title}` : "Journal"} />
      <Journal epic={epic} sprint="" />
    </>
  );
}

// Journal is what happened to an epic, or to one sprint.
export function Journal({ epic, sprint }: { epic: string; sprint: string }) {
  const newest = useResource<Log>(api.log(epic, sprint));
  const [older, setOlder] = useState<Log | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const more = async (before: number) => {
    try {
      const page = parse<Log>((await get(api.log(epic, sprint, before), "")).text);
      setOlder((o) => ({ entries: [...each(o?.entries), ...each(page.entries)], before: page.before }));
    } catch (x) {
      if (x instanceof Failure) setFailure(x);
    }
  };
  return (
    <Loaded of={newest} what="The journal">
      {(log) => {
        const first = each(log.entries);
        const last = first[first.length - 1]?.seq ?? 0;
        // While the page is open, newer entries come on top: what they push out is asked for.
        const rest = each(older?.entries).filter((x) => x.seq < last);
        const before = older ? older.before : log.before;
        return (
          <>
            <ol className="plain journal">
              {[...first, ...rest].map((x) => (
                <Line key={x.seq} entry={x} epic={epic} link={sprint === ""} />
              ))}
            </ol>
            {first.length === 0 && <p className="faint">Nothing has happened yet.</p>}
            {failure && <Trouble failure={failure} />}
            {before > 0 && (
              <button type="button" onClick={() => void more(older ? older.before : last)}>
                older
              </button>
            )}
          </>
        );
      }}
    </Loaded>
  );
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
