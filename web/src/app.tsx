// The shell: where one is, what the link to the server does, and the keys of all pages.
import { useEffect, useRef, useState } from "react";
import type { Inbox as InboxAnswer, Repository } from "./api";
import { said } from "./announce";
import { frozen, type Frozen } from "./frozen";
import { forgetRow, nextRow, useKeys, actOfRow } from "./keys";
import { link, refused } from "./live";
import { EpicPage } from "./pages/epic";
import { Inbox } from "./pages/inbox";
import { JournalPage } from "./pages/journal";
import { Morning } from "./pages/morning";
import { CostPage } from "./pages/cost";
import { PlanPage } from "./pages/plan";
import { TrustPage } from "./pages/trust";
import { SprintPage } from "./pages/sprint";
import { Title } from "./parts/basics";
import { useEpicLine } from "./parts/epictabs";
import { Find } from "./parts/find";
import { Help } from "./parts/help";
import { later } from "./parts/later";
import { useResource } from "./resource";
import { above, epicOf, go, to, useRoute, type Route } from "./route";
import { useStore } from "./store";
import { token } from "./token";
import { clock, each } from "./words";

const GraphPage = later(async () => (await import("./pages/graph")).GraphPage);
const RunsPage = later(async () => (await import("./pages/runs")).RunsPage);
const TimePage = later(async () => (await import("./pages/time")).TimePage);

type Sheet = "help" | "find" | null;

export function App() {
  const route = useRoute();
  const [sheet, setSheet] = useState<Sheet>(null);
  const epic = useEpic(route);
  useShellKeys(route, epic, setSheet);
  const main = useArrival(route);
  const in_ = useStore(token);
  const out = useStore(refused);
  const locked = !in_ || out === in_;
  return (
    <>
      <Header route={route} epic={epic} onFind={() => setSheet("find")} onHelp={() => setSheet("help")} />
      {frozen && <Kept of={frozen} />}
      {locked ? <Locked /> : <Away />}
      <main ref={main} tabIndex={-1} className={locked ? "old" : ""}>
        {(in_ || !locked) && <Page route={route} />}
      </main>
      <BottomBar route={route} epic={epic} onFind={() => setSheet("find")} onHelp={() => setSheet("help")} />
      <Said />
      {sheet === "help" && <Help onClose={() => setSheet(null)} />}
      {sheet === "find" && <Find epic={epicOf(route)} onClose={() => setSheet(null)} />}
    </>
  );
}

function Page({ route }: { route: Route }) {
  switch (route.page) {
    case "morning":
      return <Morning />;
    case "inbox":
      return <Inbox />;
    case "epic":
      return <EpicPage epic={route.epic} />;
    case "runs":
      return <RunsPage epic={route.epic} query={route.query} />;
    case "graph":
      return <GraphPage epic={route.epic} query={route.query} />;
    case "time":
      return <TimePage epic={route.epic} />;
    case "plan":
      return <PlanPage epic={route.epic} />;
    case "cost":
      return <CostPage epic={route.epic} />;
    case "trust":
      return <TrustPage epic={route.epic} />;
    case "journal":
      return <JournalPage epic={route.epic} query={route.query} />;
    case "sprint":
      return <SprintPage key={`${route.epic} ${route.key}`} epic={route.epic} sprint={route.key} tab={route.tab} query={route.query} />;
    case "unknown":
      return (
        <>
          <Title text="There is no such page" />
          <p>
            <a href={to.morning}>Morning</a> shows all there is.
          </p>
        </>
      );
  }
}

// useEpic is the epic of the page, else the only one, else the one that was open last.
let lastEpic = "";
function useEpic(route: Route): string {
  const repos = useResource<Repository[]>("/repos").data;
  const here = epicOf(route);
  if (here) lastEpic = here;
  const all = each(repos).flatMap((r) => each(r.epics));
  return here || lastEpic || all[0]?.id || "";
}

function useShellKeys(route: Route, epic: string, open: (s: Sheet) => void): void {
  const inEpic = (href: (e: string) => string) => () => epic !== "" && go(href(epic));
  useKeys({
    "?": () => open("help"),
    "/": () => open("find"),
    "g m": () => go(to.morning),
    "g i": () => go(to.inbox),
    "g e": inEpic(to.epic),
    "g r": inEpic(to.runs),
    "g g": inEpic(to.graph),
    "g t": inEpic(to.time),
    "g p": inEpic(to.plan),
    "g c": inEpic(to.cost),
    "g s": inEpic(to.trust),
    "g l": inEpic(to.journal),
    ...Object.fromEntries(Object.entries({ a: "approve", r: "reject", t: "retry", s: "skip" }).map(([key, verb]) => [key, () => actOfRow(verb)])),
    n: () => nextRow("waits"),
    N: () => nextRow("failed"),
    Escape: () => {
      const at = document.activeElement;
      if (at instanceof HTMLElement && at.matches("input, textarea, select")) at.blur();
      else go(above(route));
    },
  });
}

// useArrival puts the place and the focus where they were when the page was left, else at
// its begin.
const left = new Map<string, { y: number; row: number }>();
function useArrival(route: Route) {
  const main = useRef<HTMLElement>(null);
  const page = route.href.split("?", 1)[0] ?? "";
  useEffect(() => {
    const was = left.get(page);
    forgetRow();
    const rows = main.current?.querySelectorAll<HTMLElement>("[data-row]");
    const row = was && was.row >= 0 ? rows?.[was.row] : undefined;
    if (row) row.focus({ preventScroll: true });
    else if (!document.activeElement?.matches("input, textarea, .decideform *")) main.current?.focus({ preventScroll: true });
    scrollTo(0, was?.y ?? 0);
    let row_ = -1;
    const remember = () => {
      const all = [...(main.current?.querySelectorAll<HTMLElement>("[data-row]") ?? [])];
      row_ = all.indexOf(document.activeElement as HTMLElement);
      left.set(page, { y: scrollY, row: row_ });
    };
    document.addEventListener("focusin", remember);
    document.addEventListener("scrollend", remember);
    return () => {
      document.removeEventListener("focusin", remember);
      document.removeEventListener("scrollend", remember);
    };
  }, [page]);
  return main;
}

function Header({ route, epic, onFind, onHelp }: { route: Route; epic: string; onFind: () => void; onHelp: () => void }) {
  const waiting = each(useResource<InboxAnswer>("/inbox").data?.items).length;
  const here = useEpicLine(epicOf(route));
  const at = (p: string) => (route.page === p ? "page" : undefined);
  return (
    <header className={epicOf(route) && route.page !== "epic" ? "top" : "top outside"}>
      <nav aria-label="Pages">
        <a href={to.morning} aria-current={at("morning")}>
          Morning
        </a>
        <a href={to.inbox} aria-current={at("inbox")}>
          Inbox{waiting > 0 && <span className="count">{waiting}</span>}
        </a>
        {epicOf(route) && (
          <a href={to.epic(epic)} aria-current={at("epic")} className="epicname" title={here?.title}>
            {here?.title ?? "Epic"}
          </a>
        )}
      </nav>
      <div className="buttons">
        <button type="button" className="small" onClick={onFind}>
          find<kbd aria-hidden="true">/</kbd>
        </button>
        <button type="button" className="small" onClick={onHelp}>
          keys<kbd aria-hidden="true">?</kbd>
        </button>
      </div>
    </header>
  );
}

function BottomBar({ route, epic, onFind, onHelp }: { route: Route; epic: string; onFind: () => void; onHelp: () => void }) {
  const waiting = each(useResource<InboxAnswer>("/inbox").data?.items).length;
  const at = (p: string) => (route.page === p ? "page" : undefined);
  return (
    <nav className="bottom" aria-label="Pages, at hand">
      <a href={to.morning} aria-current={at("morning")}>
        Morning
      </a>
      <a href={to.inbox} aria-current={at("inbox")}>
        Inbox{waiting > 0 && <span className="count">{waiting}</span>}
      </a>
      {epic && (
        <a href={to.epic(epic)} aria-current={at("epic")}>
          Epic
        </a>
      )}
      <button type="button" onClick={onFind}>
        Find
      </button>
      <button type="button" onClick={onHelp}>
        Keys
      </button>
    </nav>
  );
}

// Kept says that this is a report, of when, and what it lacks.
function Kept({ of }: { of: Frozen }) {
  return (
    <div className="banner calm">
      <p>
        <strong>
          A report of {clock(new Date(of.at).toISOString(), 0)} ({Intl.DateTimeFormat().resolvedOptions().timeZone}).
        </strong>{" "}
        Nothing here changes any more, and nothing can be decided here.
        {of.omitted.length > 0 && ` Left out to keep it small: ${of.omitted.join(", ")}.`}
      </p>
    </div>
  );
}

function Locked() {
  return (
    <div role="alert" className="banner">
      <p>
        <strong>Open the link that ralph ui printed.</strong> It has the token that lets this page in, and each start of <code>ralph ui</code> makes a new one. This tab goes on when the link is
        open in any tab.
      </p>
    </div>
  );
}

// Away says that what is shown may be old. A moment of silence is nothing to speak of.
function Away() {
  const state = useStore(link);
  const [long, setLong] = useState(false);
  useEffect(() => {
    if (state === "open" || state === "refused") return setLong(false);
    const timer = setTimeout(() => setLong(true), 800);
    return () => clearTimeout(timer);
  }, [state]);
  if (!long) return null;
  return (
    <div role="status" className="banner">
      <p>
        <strong>Connection lost, retrying.</strong> What is shown is the last that was known. If <code>ralph ui</code> has ended, start it again.
      </p>
    </div>
  );
}

function Said() {
  return (
    <div aria-live="polite" className="hidden">
      {useStore(said)}
    </div>
  );
}
