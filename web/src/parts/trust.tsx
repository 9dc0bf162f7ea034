// What speaks against what the run says of itself, and what was looked at.
import { Fragment } from "react";
import type { Change, Trust as Answer, TrustCheck } from "../api";
import { useResource } from "../resource";
import { api, to } from "../route";
import { count, each } from "../words";
import { Command, Loaded, Status } from "./basics";

// words of the states of a check, and the statuses whose sign and colour they have.
const states: Record<string, { status: string; word: string }> = {
  good: { status: "pass", word: "good" },
  none: { status: "pending", word: "nothing to check" },
  look: { status: "error", word: "worth a look" },
  bad: { status: "fail", word: "bad" },
};

export function CheckState({ check }: { check: TrustCheck }) {
  const s = states[check.state] ?? { status: "error", word: check.state };
  return <Status status={s.status} word={s.word} />;
}

export const worstFirst = (checks: TrustCheck[]): TrustCheck[] => {
  const order = ["bad", "look", "good", "none"];
  return [...checks].sort((a, b) => order.indexOf(a.state) - order.indexOf(b.state));
};

// Trust is the account in a few lines: what is not good, and how much is.
export function Trust({ epic, changes }: { epic: string; changes: Change[] }) {
  const answer = useResource<Answer>(api.trust(epic));
  return (
    <Loaded of={answer} what="What speaks for it and against it">
      {(t) => {
        const all = each(t.checks).filter((c) => c.state !== "none");
        const good = all.filter((c) => c.state === "good").length;
        return (
          <ul className="plain trust">
            {changes.filter((c) => c.state === "open" && c.grade === "tampered").map((c) => (
              <ChangeLine key={c.id} change={c} />
            ))}
            {worstFirst(all)
              .filter((c) => c.state !== "good")
              .map((c) => (
                <li key={c.name}>
                  <CheckState check={c} /> <a href={to.trust(epic)}>{c.title}</a>: {short(c)}
                </li>
              ))}
            <li>
              <a href={to.trust(epic)}>
                {good} of {count(all.length, "check")}
              </a>{" "}
              {good === all.length ? "found nothing that speaks against it" : "are good"}
            </li>
          </ul>
        );
      }}
    </Loaded>
  );
}

// short is what a check says, or its first proof and how many more there are.
function short(c: TrustCheck): string {
  const [first, ...rest] = each(c.proofs);
  if (!first) return c.text;
  const more = rest.length + (c.more ?? 0);
  return more > 0 ? `${first.text}, and ${more} more` : first.text;
}

// Back is how something is put back, if it was not you: it may be long.
export function Back({ text }: { text: string | undefined }) {
  if (!text) return null;
  return (
    <details>
      <summary>put it back, if it was not you</summary>
      <Command text={text} />
    </details>
  );
}

function ChangeLine({ change: c }: { change: Change }) {
  return (
    <li>
      <Status status={c.fails_the_run ? "blocked" : "error"} word={c.grade} /> {c.text}{" "}
      {each(c.during).length > 0 && <span className="faint"> while {each(c.during).join(", ")} ran</span>}
      {[c.look, c.accept].map((text) => text && <Fragment key={text}> <Command text={text} /></Fragment>)}
      <Back text={c.put_back} />
    </li>
  );
}
