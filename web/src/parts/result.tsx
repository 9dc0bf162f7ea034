// What has come of an epic: the branch that holds the results, how to look at it and take it,
// and its runs.
import type { Result } from "../api";
import { useResource } from "../resource";
import { api, to } from "../route";
import { count, each } from "../words";
import { Clock, Command, Section, Trouble } from "./basics";
import { Tally } from "./sprints";

const few = 5; // sprints that are listed at once
const most = 200;

export function ResultOf({ epic }: { epic: string }) {
  const answer = useResource<Result>(api.result(epic));
  const r = answer.data;
  if (!r) return answer.failure ? <Trouble failure={answer.failure} what="The result" /> : null;
  return (
    <>
      {r.commit && (
        <Section title="Result">
          <p>
            Branch <code>{r.branch}</code> at <code>{r.commit.slice(0, 12)}</code>
            {r.base && (
              <>
                , begun from <code>{r.base.slice(0, 12)}</code>
              </>
            )}
            . {r.note}
          </p>
          <ul className="plain">
            {each(r.review).map((c) => (
              <li key={c}>
                {c.startsWith("git log") ? "Its commits" : "Its changes"}: <Command text={c} />
              </li>
            ))}
            {r.take && (
              <li>
                To take it: <Command text={r.take} />
              </li>
            )}
          </ul>
          <Listed title="Not in it" list={each(r.left_out)} epic={epic} />
          <Listed title="An older result of" list={each(r.older)} epic={epic} />
        </Section>
      )}
      {each(r.moved_out).length > 0 && (
        <Section title="Moved out of worktrees" count={each(r.moved_out).length}>
          <p>No commit can hold these files, and there is no other copy.</p>
          <ul className="plain">
            {each(r.moved_out).map((m) => (
              <li key={m.dir}>
                {m.key && (
                  <a href={to.sprint(epic, m.key)} className="key">
                    {m.key}
                  </a>
                )}{" "}
                <code>{m.dir}</code> {count(m.files, "file")}: {m.why}
              </li>
            ))}
          </ul>
        </Section>
      )}
      {each(r.runs).length > 0 && (
        <Section title="Runs of ralph apply" count={each(r.runs).length}>
          <ol className="plain">
            {each(r.runs).map((x) => (
              <li key={x.started}>
                <Clock at={x.started} />
                {x.ended && (
                  <>
                    {" to "}
                    <Clock at={x.ended} />
                  </>
                )}
                , by {x.by}: {x.outcome}
                {x.counts && (
                  <>
                    {x.outcome && "; "}
                    <Tally counts={x.counts} total={Object.values(x.counts).reduce((n, m) => n + m, 0)} />
                  </>
                )}
              </li>
            ))}
          </ol>
        </Section>
      )}
    </>
  );
}

function Listed({ title, list, epic }: { title: string; list: { key: string; why: string }[]; epic: string }) {
  if (list.length === 0) return null;
  return (
    <details open={list.length <= few}>
      <summary>
        {title}: {count(list.length, "sprint")}
      </summary>
      <ul className="plain">
        {list.slice(0, most).map((x) => (
          <li key={x.key}>
            <a href={to.sprint(epic, x.key)} className="key">
              {x.key}
            </a>{" "}
            {x.why}
          </li>
        ))}
        {list.length > most && <li>and {list.length - most} more</li>}
      </ul>
    </details>
  );
}
