// Morning: what is done, what waits for me, what failed and why, what it cost, what comes
// next, whether I may trust it.
import type { ReactNode } from "react";
import type { Epic, EpicLine, Inbox, Repository, Result, SprintLine } from "../api";
import { Afterwards } from "../parts/afterwards";
import { Ago, Clock, Command, Loaded, Section, Status, Title } from "../parts/basics";
import { Forecasted } from "../parts/forecast";
import { InboxList } from "../parts/inbox";
import { atWork, Slots, toContinue } from "../parts/slots";
import { Bar, Failures, Tally } from "../parts/sprints";
import { Trust } from "../parts/trust";
import { useResource } from "../resource";
import { api, to } from "../route";
import { count, each } from "../words";

const most = 12; // epics whose news are asked for

interface Line extends EpicLine {
  repo: string;
}

export function Morning() {
  const repos = useResource<Repository[]>("/repos");
  return (
    <Loaded of={repos} what="The repositories">
      {(all) => <News repos={each(all)} />}
    </Loaded>
  );
}

function News({ repos }: { repos: Repository[] }) {
  const inbox = useResource<Inbox>("/inbox");
  const lines: Line[] = repos.flatMap((r) => each(r.epics).map((e) => ({ ...e, repo: r.name }))).sort((a, b) => a.rank - b.rank);
  const news = newsOf(lines);
  const ready = readyOf(lines);
  const failed = lines.reduce((n, e) => n + e.failed, 0);
  const waiting = each(inbox.data?.items);
  const several = repos.length > 1;
  return (
    <>
      <Title text={headline(inbox.data ? waiting.length : lines.reduce((n, e) => n + e.waits, 0), failed, repos, lines)} />
      <EpicList lines={lines} several={several} />
      {repos.map((r) =>
        each(r.trouble).map((t) => (
          <p key={`${r.id} ${t}`} role="alert">
            <Status status="error" word={`${r.name}: ${t}`} />
          </p>
        )),
      )}
      {waiting.length > 0 && (
        <Section title="Waits for you" count={waiting.length}>
          <InboxList items={waiting} epics={lines.length > 1} repos={several} />
        </Section>
      )}
      {failed > 0 && (
        <Section title="Failed" count={failed}>
          <Failures failures={each(inbox.data?.failures)} epics={lines.length > 1} repos={several} />
        </Section>
      )}
      {news.length + ready.length > 0 && (
        <Section title="Next">
          <div className="per">
            {news.map((e) => (
              <EpicNext key={e.id} line={e} several={lines.length > 1} />
            ))}
            {ready.map((e) => (
              <EpicReady key={e.id} line={e} several={lines.length > 1} />
            ))}
          </div>
        </Section>
      )}
      {news.length + ready.length > 0 && (
        <Section title="Trust">
          <div className="per">
            {[...news, ...ready].map((e) => (
              <EpicTrust key={e.id} line={e} several={lines.length > 1} />
            ))}
          </div>
        </Section>
      )}
    </>
  );
}

const settled = (e: EpicLine): number => ["done", "skipped", "cancelled"].reduce((n, s) => n + (e.counts?.[s] ?? 0), 0);

const hasNews = (e: EpicLine): boolean => e.waits > 0 || e.failed > 0 || atWork(e.run) || e.run.state === "interrupted" || (e.run.state !== "not started" && settled(e) < e.total);

// newsOf are the epics that something can be said of; if there are none, those that can begin.
function newsOf(lines: Line[]): Line[] {
  const news = lines.filter(hasNews);
  return (news.length > 0 ? news : lines.filter((e) => e.run.state === "not started" && e.total > 0)).slice(0, most);
}

const day = 24 * 3600 * 1000;

// readyOf are the epics that ended done within a day, or else the one that ended last: their
// results are to be looked at, and taken.
function readyOf(lines: Line[]): Line[] {
  const done = lines.filter((e) => e.ended && !hasNews(e)).sort((a, b) => Date.parse(b.ended ?? "") - Date.parse(a.ended ?? ""));
  const fresh = done.filter((e) => Date.now() - Date.parse(e.ended ?? "") < day);
  return fresh.length > 0 ? fresh.slice(0, most) : lines.some(hasNews) ? [] : done.slice(0, 1);
}

function headline(waits: number, failed: number, repos: Repository[], lines: EpicLine[]): string {
  const unread = repos.reduce((n, r) => n + each(r.trouble).length, 0) + lines.filter((e) => e.broken).length;
  if (lines.length + unread === 0) return "No runs here yet";
  const interrupted = lines.filter((e) => e.run.state === "interrupted").length;
  const parts = [];
  if (waits > 0) parts.push(`${waits} ${waits === 1 ? "waits" : "wait"} for you`);
  if (failed > 0) parts.push(`${failed} failed`);
  if (interrupted > 0) parts.push(lines.length > 1 ? `${interrupted} interrupted` : "interrupted");
  if (unread > 0) parts.push(`${count(unread, "run")} cannot be read`);
  const running = lines.reduce((n, e) => n + (e.counts?.["running"] ?? 0), 0);
  if (parts.length === 0) parts.push("Nothing waits for you, nothing failed");
  if (running > 0 && lines.some((e) => e.run.state === "at work")) parts.push(`${running} running`);
  return parts.join(", ");
}

function EpicList({ lines, several }: { lines: Line[]; several: boolean }) {
  if (lines.length === 0) {
    return (
      <p>
        A run begins with <Command text="ralph apply" /> in the repository, after <Command text="ralph compile PLAN.md" />.
      </p>
    );
  }
  const front = lines.length > 8 ? lines.filter(hasNews) : lines;
  const rest = lines.filter((e) => !front.includes(e));
  return (
    <>
      <ul className="plain rows">
        {front.map((e) => (
          <EpicRow key={e.id} line={e} several={several} />
        ))}
      </ul>
      {rest.length > 0 && (
        <details>
          <summary>{count(rest.length, "other epic")}, at rest</summary>
          <ul className="plain rows">
            {rest.map((e) => (
              <EpicRow key={e.id} line={e} several={several} />
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

const runStatus: Record<string, string> = { "at work": "running", ending: "running", interrupted: "interrupted" };

function EpicRow({ line: e, several }: { line: Line; several: boolean }) {
  const works = atWork(e.run);
  return (
    <li className="epicrow">
      <div className="line">
        <a className="what" href={to.epic(e.id)} data-row="" data-need={e.waits > 0 ? "waits" : e.failed > 0 ? "failed" : ""}>
          <span className="title">{e.title}</span>
          {several && <span className="faint">{e.repo}</span>}
        </a>
        <span className="facts">
          {runStatus[e.run.state] ? <Status status={runStatus[e.run.state] ?? ""} word={e.run.state} /> : <span>{e.run.state}</span>}
          {!works && e.ended && <Clock at={e.ended} />}
          {works && e.run.started && <Ago at={e.run.started} />}
          {e.spent && <span>{e.spent}</span>}
        </span>
      </div>
      <Bar counts={e.counts} total={e.total} />
      <Tally counts={e.counts} total={e.total} />
      {e.broken && (
        <p role="alert">
          <Status status="error" word={`what is shown may be old: ${e.broken}`} />
        </p>
      )}
    </li>
  );
}

interface Of {
  line: Line;
  several: boolean;
}

function EpicNext({ line, several }: Of) {
  const e = useResource<Epic>(api.epic(line.id)).data;
  if (!e) return null;
  return (
    <>
      {several && <h3>{e.title}</h3>}
      <div>
        {e.run.state !== "at work" && e.says !== e.run.state && <p>{e.says}</p>}
        <Some title={atWork(e.run) ? "at work on" : "interrupted:"} epic={e.id} sprints={each(e.running)}>
          <Slots of={e} />
        </Some>
        <Some title="then" epic={e.id} sprints={each(e.upcoming)} />
        <Forecasted of={e} />
        {e.command && e.run.plan_approved ? (
          <p>
            {toContinue(e.run)}: <Command text={e.command} /> <span className="faint">in {e.dir}</span>
          </p>
        ) : (
          <Afterwards of={e} dir={e.dir} />
        )}
      </div>
    </>
  );
}

// EpicReady says how to look at what an epic has come to, and how to take it.
function EpicReady({ line, several }: Of) {
  const e = useResource<Epic>(api.epic(line.id)).data;
  const r = useResource<Result>(api.result(line.id)).data;
  if (!e || !r?.take) return null;
  const diff = each(r.review).find((c) => c.startsWith("git diff"));
  return (
    <>
      {several && <h3>{e.title}</h3>}
      <div>
        <p>
          Its result is on <code>{r.branch}</code>, in <span className="faint">{e.dir}</span>
        </p>
        <ul className="plain">
          {diff && (
            <li>
              Look at it: <Command text={diff} />
            </li>
          )}
          <li>
            Take it: <Command text={r.take} />
          </li>
        </ul>
        {r.note && <p>{r.note}</p>}
      </div>
    </>
  );
}

function Some({ title, epic, sprints, children }: { title: string; epic: string; sprints: SprintLine[]; children?: ReactNode }) {
  if (sprints.length === 0) return null;
  return (
    <p>
      {title}{" "}
      {sprints.slice(0, 6).map((s) => (
        <a key={s.key} href={to.sprint(epic, s.key)} className="soon">
          <span className="key">{s.key}</span> {s.title}
        </a>
      ))}
      {sprints.length > 6 && <span className="faint">and {sprints.length - 6} more </span>}
      {children}
    </p>
  );
}

function EpicTrust({ line, several }: Of) {
  const e = useResource<Epic>(api.epic(line.id)).data;
  if (!e) return null;
  return (
    <>
      {several && <h3>{e.title}</h3>}
      <div>
        <Trust epic={e.id} changes={each(e.changes)} />
      </div>
    </>
  );
}
