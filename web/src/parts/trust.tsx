// What speaks against what the run says of itself.
import type { Change } from "../api";
import { each } from "../words";
import { Command, Status } from "./basics";

export function Trust({ doubts, changes, broken }: { doubts: string[]; changes: Change[]; broken?: string | undefined }) {
  const open = changes.filter((c) => c.state === "open");
  if (doubts.length + changes.length === 0 && !broken) return <p>Nothing on record speaks against it.</p>;
  return (
    <ul className="plain trust">
      {broken && (
        <li>
          <Status status="error" word={`the journal cannot be read any more: ${broken}`} />
        </li>
      )}
      {open.map((c) => (
        <ChangeLine key={c.id} change={c} />
      ))}
      {doubts.map((d) => (
        <li key={d}>
          <span className="status asks">
            <span aria-hidden="true" className="sign">
              !
            </span>
            <span className="plainly">{d}</span>
          </span>
        </li>
      ))}
      {changes.length > open.length && <li className="faint">{changes.length - open.length} changes by others were accepted or put back</li>}
    </ul>
  );
}

function ChangeLine({ change: c }: { change: Change }) {
  return (
    <li>
      <Status status={c.fails_the_run ? "blocked" : "error"} word={c.grade} /> {c.text}
      {each(c.during).length > 0 && <span className="faint"> while {each(c.during).join(", ")} ran</span>}
      {[c.look, c.put_back, c.accept].map((text) => text && <Command key={text} text={text} />)}
    </li>
  );
}
