// What waits for a person, as rows: on Morning, Inbox and the epic's page.
import type { InboxItem } from "../api";
import { actOfRow, rowAtHand, useKeys } from "../keys";
import { go, to } from "../route";
import { count, each, firstLine } from "../words";
import { Ago, Status } from "./basics";
import { Acts, ByHand, doing } from "./decide";
import { Holds } from "./holds";
import { VerdictLine } from "./verdicts";

const verbs: Record<string, string> = { a: "approve", r: "reject", t: "retry", s: "skip" };

// anotherNow is said of a sprint that the next apply does again.
export const anotherNow = "! In epic.json it is another one by now: the next ralph apply does its work again, whatever is decided here.";

const hrefOf = (i: InboxItem, verb = ""): string => {
  if (!i.key) return to.epic(i.epic) + (verb ? `?do=${verb}` : "");
  return to.sprint(i.epic, i.key, "now", verb ? { do: verb } : {});
};

interface Which {
  detailed?: boolean;
  epics?: boolean; // of several, which is said
  repos?: boolean;
}

export function InboxList({ items, ...which }: Which & { items: InboxItem[] }) {
  // Also decisions that stand in no row: those behind "more".
  const act = (verb: string) => {
    if (actOfRow(verb)) return true;
    const row = rowAtHand();
    const offered = (i: InboxItem | undefined) => each(i?.offers).some((o) => o.verb === verb);
    const item = row ? items[Number(row.dataset["inbox"])] : items.find(offered);
    if (!item || !offered(item)) return false;
    go(hrefOf(item, verb));
    return true;
  };
  useKeys(Object.fromEntries(Object.entries(verbs).map(([key, verb]) => [key, () => act(verb)])));
  return (
    <ul className="plain rows">
      {items.map((i, at) => (
        <InboxRow key={`${i.epic} ${i.key ?? ""} ${i.cause ?? ""} ${tamperOf(i)}`} item={i} at={at} {...which} />
      ))}
    </ul>
  );
}

const tamperOf = (i: InboxItem): string => each(i.offers)[0]?.tamper ?? "";

function InboxRow({ item, at, detailed, epics, repos }: Which & { item: InboxItem; at: number }) {
  const href = hrefOf(item);
  const offers = each(item.offers).filter((o) => o.verb !== "apply" && (o.main || (!o.how && (o.verb === "approve" || o.verb === "reject"))));
  return (
    <li className="inboxrow">
      <div className="line">
        <a className="what" href={href} data-row="" data-need="waits" data-inbox={at}>
          <Status status="waiting" word={item.cause || item.status} />
          {item.key && <span className="key">{item.key}</span>} <span className="title">{item.key ? item.title : item.epic_title}</span>
        </a>
        <span className="facts">
          {epics && item.key && <span>{item.epic_title}</span>}
          {repos && <span>{item.repo}</span>}
          {item.since && <Ago at={item.since} />}
          {item.files > 0 && (
            <span>
              <span className="plus">+{item.added}</span> <span className="minus">−{item.removed}</span>
            </span>
          )}
          {each(item.verdicts).length > 0 && <span>{passed(item)}</span>}
          <Holds of={item} />
        </span>
        <Acts offers={offers} href={(o) => hrefOf(item, doing(o))} of={item.key ?? "the run"} />
      </div>
      <p className="reason">{beside(detailed ? item.asks : firstLine(item.asks), item.cause)}</p>
      {item.other && <p className="worth">{anotherNow}</p>}
      {detailed && <Details item={item} />}
    </li>
  );
}

const passed = (i: InboxItem): string => {
  const all = each(i.verdicts);
  return `${all.filter((g) => g.verdict === "pass").length}/${count(all.length, "gate")}`;
};

// beside is what is asked, beside the cause: "approval (gate sign-off, ada decides)" says it twice.
export function beside(asks: string, cause = ""): string {
  if (!cause || !asks.startsWith(cause)) return asks;
  const rest = asks.slice(cause.length).replace(/^:\s*/, "").trim();
  return rest.replace(/^\(([^()]*)\)/, "$1") || asks;
}

function Details({ item }: { item: InboxItem }) {
  return (
    <>
      {item.reason && item.cause !== "approval" && !item.asks.includes(firstLine(item.reason)) && <p className="reason said">{item.reason}</p>}
      {each(item.verdicts).length > 0 && (
        <p className="reason">
          <VerdictLine gates={each(item.verdicts)} />
        </p>
      )}
      <ByHand steps={each(item.next)} offers={each(item.offers)} className="reason" />
    </>
  );
}
