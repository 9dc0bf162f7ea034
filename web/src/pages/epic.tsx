// Epic: one run. What needs somebody, what failed, what runs, what comes next; all sprints.
import { useRef, useState } from "react";
import type { Epic, Offer } from "../api";
import { useKeys } from "../keys";
import { Afterwards } from "../parts/afterwards";
import { Decisions } from "../parts/decide";
import { EpicTabs } from "../parts/epictabs";
import { Forecasted } from "../parts/forecast";
import { Clock, Command, Loaded, Section, Status, Title } from "../parts/basics";
import { InboxList } from "../parts/inbox";
import { atWork, Slots, toContinue } from "../parts/slots";
import { Bar, Failures, SprintList, SprintRows, Tally } from "../parts/sprints";
import { ResultOf } from "../parts/result";
import { Trust } from "../parts/trust";
import { useResource } from "../resource";
import { api, useRoute } from "../route";
import { each } from "../words";

export function EpicPage({ epic }: { epic: string }) {
  const answer = useResource<Epic>(api.epic(epic));
  return (
    <Loaded of={answer} what="The epic">
      {(e) => <View key={e.id} epic={e} />}
    </Loaded>
  );
}

function View({ epic: e }: { epic: Epic }) {
  const [deciding, setDeciding] = useState(false);
  const place = useRef("");
  if (!deciding) place.current = placeOf(e); // what is typed or read there does not move
  useKeys({
    "/": () => {
      const find = document.getElementById("find");
      find?.focus();
      find?.scrollIntoView({ block: "center" });
    },
  });
  return (
    <>
      <Title text={e.title} />
      <Facts epic={e} />
      {e.broken && (
        <p role="alert">
          <Status status="error" word={`What is shown may be old: ${e.broken}`} />
        </p>
      )}
      {e.changed && <p className="status asks">epic.json is another one since the last run.</p>}
      {place.current === "top" && <RunDecisions epic={e} onBusy={setDeciding} />}
      {each(e.inbox).length > 0 && (
        <Section title="Waits for you" count={each(e.inbox).length}>
          <InboxList items={each(e.inbox)} />
        </Section>
      )}
      {each(e.failures).length > 0 && (
        <Section title="Failed" count={e.failed}>
          <Failures failures={each(e.failures)} />
        </Section>
      )}
      <Afterwards of={e} dir={e.dir} />
      <ResultOf epic={e.id} />
      {each(e.running).length > 0 && (
        <Section title={atWork(e.run) ? "Running" : "Interrupted"} count={each(e.running).length} aside={<Slots of={e} />}>
          <SprintRows epic={e.id} sprints={each(e.running)} />
        </Section>
      )}
      {(each(e.upcoming).length > 0 || e.stuck) && (
        <Section title="Next">
          <Forecasted of={e} />
          <SprintRows epic={e.id} sprints={each(e.upcoming)} />
        </Section>
      )}
      {place.current === "below" && (
        <Section title="The run">
          <RunDecisions epic={e} onBusy={setDeciding} />
        </Section>
      )}
      <Section title="Trust">
        <Trust epic={e.id} changes={each(e.changes)} />
      </Section>
      {each(e.proposals).length > 0 && (
        <Section title="Proposed by agents" count={each(e.proposals).length}>
          <ul className="plain">
            {each(e.proposals).map((p, i) => (
              <li key={i}>
                <strong>{p.title}</strong> <span className="faint">from {p.node}{p.agent && `, ${p.agent}`}</span>
                {p.text && <p className="said">{p.text}</p>}
              </li>
            ))}
          </ul>
        </Section>
      )}
      <Section title={each(e.sprints).some((s) => s.key === "integration") ? "All sprints and the integration" : "All sprints"} count={each(e.sprints).length}>
        <SprintList epic={e.id} sprints={each(e.sprints)} />
      </Section>
    </>
  );
}

// placeOf is where the decisions about the whole run are: what somebody waits for comes first.
function placeOf(e: Epic): string {
  const offers = offersOf(e);
  if (offers.some((o) => o.main)) return "top";
  return offers.length > 0 || (e.command && e.run.plan_approved) ? "below" : "";
}

function RunDecisions({ epic: e, onBusy }: { epic: Epic; onBusy: (is: boolean) => void }) {
  const route = useRoute();
  return (
    <>
      <Decisions
        open={route.query.get("do") ?? undefined}
        onBusy={onBusy}
        subject={{
          epic: e.id,
          key: "",
          seq: e.seq,
          offers: offersOf(e),
          bound: (o) => (o.verb === "approve" && !o.tamper && (!o.how || o.how === "drafted") ? { digest: e.digest } : undefined),
          reload: [api.epic(e.id)],
        }}
      />
      {e.command && e.run.plan_approved && (
        <p>
          {toContinue(e.run)}: <Command text={e.command} /> <span className="faint">in {e.dir}</span>
        </p>
      )}
    </>
  );
}

// offersOf are the decisions about the whole run, also those that its changes ask for, each with
// the change that it accepts.
function offersOf(e: Epic): Offer[] {
  const all = each(e.offers);
  const asked = each(e.inbox)
    .filter((i) => !i.key)
    .flatMap((i) => each(i.offers).map((o) => (o.tamper ? { ...o, label: `${o.label}: ${i.title}`, what: i.asks } : o)));
  return [...all, ...asked.filter((o) => !all.some((x) => x.verb === o.verb && x.how === o.how && x.tamper === o.tamper))];
}

function Facts({ epic: e }: { epic: Epic }) {
  return (
    <>
      <p className="says">
        {e.says}
        <span className="faint">
          {" "}
          · {e.repo} · {e.plan || e.file}
        </span>
        {e.run.held_detail && <span> · {e.run.held_detail}</span>}
      </p>
      <Bar counts={e.counts} total={e.total} />
      <p className="facts">
        <Tally counts={e.counts} total={e.total} />
        {e.spent && <span>{e.spent}</span>}
        {e.ended && (
          <span>
            ended <Clock at={e.ended} />
          </span>
        )}
      </p>
      <EpicTabs epic={e.id} at="Epic" />
    </>
  );
}
