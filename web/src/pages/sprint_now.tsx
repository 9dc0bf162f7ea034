// Now: how a sprint stands, what can be decided about it, and on the same screen the
// change that the decision is about.
import { useState } from "react";
import type { Attempt, Bead, Diff, SprintLine } from "../api";
import { Ago, Command, Long, Section, Status, Trouble, Web } from "../parts/basics";
import { ByHand, Decisions, type Subject } from "../parts/decide";
import { DiffView } from "../parts/diff";
import { Holds } from "../parts/holds";
import { anotherNow, beside } from "../parts/inbox";
import { LogView } from "../parts/log";
import { ErredList, VerdictLine, VerdictList } from "../parts/verdicts";
import { useResource } from "../resource";
import { api, to } from "../route";
import { count, each, firstLine } from "../words";
import { Journal } from "./journal";
import type { TabProps } from "./sprint";
import { nameOf, shownAs, wordOf } from "./sprint_attempts";

export function Now({ s, epic, query }: TabProps) {
  const { show } = s;
  const path = api.sprint(epic, show.key);
  const decidable = show.status === "waiting" || show.status === "blocked";
  const diff = useResource<Diff>(each(show.attempts).length > 0 ? `${path}/diff` : null);
  const approval = diff.data?.approval;
  const needsDiff = show.cause === "approval";
  const subject: Subject = {
    epic,
    key: show.key,
    seq: s.seq,
    moved: s.moved,
    now: s.asks || s.word,
    offers: each(s.offers),
    bound: (o) => (approval && o.verb === "approve" && !o.how ? { gate: approval.gate, digest: approval.gate_digest, result: approval.result, base: approval.base } : undefined),
    commitOf: (result) => (diff.data?.to.tree === result ? diff.data.to.commit : undefined),
    notYet: needsDiff && !approval ? (diff.failure ? "The change cannot be shown, so it cannot be approved here." : "The change is being read: it is approved as it is shown.") : undefined,
    reload: [path, `${path}/diff`],
  };
  const last = lastAttempt(each(show.attempts));
  const [heard, setHeard] = useState(""); // when it wrote last, while one looks
  const hear = () => setHeard(new Date(Math.floor(Date.now() / 1000) * 1000).toISOString());
  return (
    <div className={decidable ? "now split" : "now"}>
      <div className="side">
        <Stands s={s} heard={heard} />
        {s.other && <p className="worth">{anotherNow}</p>}
        <Decisions subject={subject} open={query.get("do") ?? undefined} />
        <ByHand steps={each(show.next)} offers={each(s.offers)} />
        {last && each(last.gates).length + each(last.erred).length > 0 && (
          <Section title={`Verdicts on ${last.step} #${last.number}`}>
            <VerdictList gates={each(last.gates)} />
            <ErredList erred={each(last.erred)} />
          </Section>
        )}
        <Earlier attempts={each(show.attempts).slice(0, -1)} epic={epic} sprint={show.key} />
        {each(show.feedback).length > 0 && (
          <details>
            <summary>{show.status === "blocked" ? "What the next attempt is told" : "What its agent was told"}</summary>
            {each(show.feedback).map((f, i) => (
              <Long key={i} text={f} />
            ))}
          </details>
        )}
      </div>
      <div className="main">
        {s.tail?.file && (
          <Section title={`Being written: ${s.tail.file}`} aside={<a href={to.sprint(epic, show.key, "log")}>all logs</a>}>
            <LogView epic={epic} sprint={show.key} step={s.tail.step} attempt={s.tail.attempt} file={s.tail.file} live onLines={hear} />
          </Section>
        )}
        {diff.failure && !diff.data && <Trouble failure={diff.failure} what="The change" />}
        {diff.data && (decidable || !s.tail?.file) && (
          <Section title={needsDiff ? "The change to approve" : "What it changed"}>
            <DiffView diff={diff.data} path={`${path}/diff`} />
          </Section>
        )}
      </div>
      <Around s={s} epic={epic} />
    </div>
  );
}

export const lastAttempt = (all: Attempt[]): Attempt | undefined => all[all.length - 1];

const few = 4; // earlier attempts

// Earlier is what came of the attempts before the last one, in a line each, newest first.
function Earlier({ attempts, epic, sprint }: { attempts: Attempt[]; epic: string; sprint: string }) {
  if (attempts.length === 0) return null;
  const shown = attempts.slice(-few).reverse();
  return (
    <Section title="Earlier attempts" count={attempts.length}>
      <ul className="plain verdictlist">
        {shown.map((a) => {
          const failed = each(a.gates).find((g) => g.verdict !== "pass");
          const why = firstLine(failed?.message || (a.status === "passed" ? "" : a.reason));
          return (
            <li key={nameOf(a)}>
              <div className="row">
                <a href={to.sprint(epic, sprint, "attempts", { run: nameOf(a) })}>
                  {a.step} #{a.number}
                </a>
                <Status status={shownAs(a)} word={wordOf(a)} />
                <VerdictLine gates={each(a.gates)} />
              </div>
              {why && <p className="said faint">{why}</p>}
            </li>
          );
        })}
      </ul>
      {attempts.length > few && <a href={to.sprint(epic, sprint, "attempts")}>{attempts.length - few} more</a>}
    </Section>
  );
}

function Stands({ s, heard }: { s: TabProps["s"]; heard: string }) {
  const { show } = s;
  const sign = [show.last_activity ?? "", heard].sort((a, b) => (Date.parse(a) || 0) - (Date.parse(b) || 0))[1];
  const asks = s.asks === s.word ? "" : beside(s.asks ?? "", s.word);
  const reason = show.reason && show.cause !== "approval" && !s.asks?.includes(show.reason) ? show.reason : "";
  return (
    <div>
      {asks && <p className="asks">{asks}</p>}
      <Long text={reason} />
      <p className="facts">
        {show.doing && <span>{show.doing}</span>}
        {show.since && s.shown !== "goes on" && (
          <span>
            {s.shown} for <Ago at={show.since} />
          </span>
        )}
        <Holds of={s} />
        {sign && show.status === "running" && (
          <span>
            last sign of life <Ago at={sign} /> ago
          </span>
        )}
        {show.pr_url && (
          <span>
            <Web url={show.pr_url}>{show.pr ?? show.pr_url}</Web>
          </span>
        )}
      </p>
    </div>
  );
}

// Around is what stands around the sprint: sessions, neighbours, beads, what happened.
function Around({ s, epic }: { s: TabProps["s"]; epic: string }) {
  const { show } = s;
  const near: [string, SprintLine[]][] = [
    ["After", each(s.after)],
    ["Before", each(s.before)],
  ];
  return (
    <div className="around">
      {each(s.join).length > 0 && (
        <Section title="Sessions of its agents">
          <ul className="plain">
            {each(s.join).map((j) => (
              <li key={`${j.session} ${j.gate ?? ""}`}>
                {j.step} #{j.attempt}
                {j.gate && ` (gate ${j.gate})`}, {j.agent}: {j.command ? <Command text={j.command} /> : <span className="faint">{j.cannot}</span>}
              </li>
            ))}
          </ul>
        </Section>
      )}
      {near.map(
        ([title, list]) =>
          list.length > 0 && (
            <Section key={title} title={title === "After" ? "It comes after" : "Comes after it"}>
              <ul className="plain">
                {list.map((n) => (
                  <li key={n.key}>
                    <a href={to.sprint(epic, n.key)}>
                      <Status status={n.shown} word={n.word} short /> <span className="key">{n.key}</span> {n.title}
                    </a>
                  </li>
                ))}
              </ul>
            </Section>
          ),
      )}
      {s.bead && <InTracker known={s.bead} path={`${api.sprint(epic, show.key)}/bead`} />}
      {each(show.decisions).length > 0 && (
        <Section title="Decided about it">
          <ul className="plain">
            {each(show.decisions).map((d) => (
              <li key={d.id}>
                {d.verb}
                {d.how && ` --${d.how}`} by {d.by}
                {d.user !== d.by && ` (as ${d.user})`}, <Ago at={d.at} /> ago
                {d.message && <p className="said">{d.message}</p>}
              </li>
            ))}
          </ul>
        </Section>
      )}
      <details>
        <summary>What happened to it</summary>
        <Journal epic={epic} sprint={show.key} />
      </details>
    </div>
  );
}

// InTracker is the sprint's bead: as the run tells it, and as bd says it once that is there.
function InTracker({ known, path }: { known: Bead; path: string }) {
  const asked = useResource<Bead>(path);
  const bead = asked.data ?? known;
  return (
    <Section title={`Bead ${bead.id}`}>
      <p className="facts">
        <span>{bead.status}</span>
        <span>{bead.title}</span>
        {!bead.asked && <span className="faint">as this run tells bd{bead.cannot && `: ${bead.cannot}`}</span>}
      </p>
      {bead.unsent > 0 && <p className="status asks">{count(bead.unsent, "comment is", "comments are")} not sent yet</p>}
      {each(bead.comments).map((c, i) => (
        <div key={i}>
          <p className="faint">
            {c.author}, <Ago at={c.at} /> ago
          </p>
          <Long text={c.text} />
        </div>
      ))}
    </Section>
  );
}
