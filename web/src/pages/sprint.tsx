// Sprint: one piece of work, with all that is known of it.
import type { Epic, Sprint, SprintLine } from "../api";
import { useKeys } from "../keys";
import { Loaded, Status, Title } from "../parts/basics";
import { useResource } from "../resource";
import { api, go, tabs, to, type Tab } from "../route";
import { each, spent } from "../words";
import { Attempts } from "./sprint_attempts";
import { DiffTab, LogTab, PromptTab, WhyTab } from "./sprint_files";
import { Now } from "./sprint_now";

interface Props {
  epic: string;
  sprint: string;
  tab: Tab;
  query: URLSearchParams;
}

const names: Record<Tab, string> = { now: "Now", attempts: "Attempts", diff: "Diff", log: "Log", prompt: "Prompt", why: "Why" };

export function SprintPage({ epic, sprint, tab, query }: Props) {
  const answer = useResource<Sprint>(api.sprint(epic, sprint));
  useNextKeys(epic, sprint);
  useKeys(Object.fromEntries(tabs.map((t, i) => [String(i + 1), () => go(to.sprint(epic, sprint, t))])));
  return (
    <Loaded of={answer} what={`Sprint ${sprint}`}>
      {(s) => (
        <>
          <Title text={`${s.show.key} ${s.show.title}`}>
            <span className="key">{s.show.key}</span> {s.show.title}
          </Title>
          <p className="facts">
            <Status status={s.shown} word={s.word} />
            {spent(s.show.spent) && <span>{spent(s.show.spent)}</span>}
            {s.show.phase && <span>phase {s.show.phase}</span>}
            <span className="faint">event {s.seq}</span>
          </p>
          <nav className="tabs" aria-label="Of this sprint">
            {tabs.map((t) => (
              <a key={t} href={to.sprint(epic, sprint, t)} aria-current={t === tab ? "page" : undefined}>
                {names[t]}
                {t === "attempts" && each(s.show.attempts).length > 0 && <span className="count">{each(s.show.attempts).length}</span>}
              </a>
            ))}
          </nav>
          <TabOf s={s} epic={epic} tab={tab} query={query} />
        </>
      )}
    </Loaded>
  );
}

export interface TabProps {
  s: Sprint;
  epic: string;
  query: URLSearchParams;
}

function TabOf({ tab, ...props }: TabProps & { tab: Tab }) {
  switch (tab) {
    case "now":
      return <Now {...props} key={props.s.show.key} />;
    case "attempts":
      return <Attempts {...props} />;
    case "diff":
      return <DiffTab {...props} />;
    case "log":
      return <LogTab {...props} />;
    case "prompt":
      return <PromptTab {...props} />;
    case "why":
      return <WhyTab {...props} />;
  }
}

// useNextKeys: n and N go on to the next sprint that waits for somebody, or failed.
function useNextKeys(epic: string, sprint: string): void {
  const e = useResource<Epic>(api.epic(epic)).data;
  const next = (is: (s: SprintLine) => boolean) => () => {
    const all = each(e?.sprints);
    const at = all.findIndex((s) => s.key === sprint);
    const found = [...all.slice(at + 1), ...all.slice(0, at)].find(is);
    if (found) go(to.sprint(epic, found.key));
  };
  useKeys({ n: next((s) => s.human === true), N: next((s) => s.status === "blocked") });
}
