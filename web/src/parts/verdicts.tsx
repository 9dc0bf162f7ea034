import type { Erred, Gate } from "../api";
import { count, each, lasted, sign, tone } from "../words";
import { Ago, Long, Status } from "./basics";

// VerdictLine is the gates of an attempt in one line.
export function VerdictLine({ gates }: { gates: { gate: string; verdict: string }[] }) {
  if (gates.length === 0) return null;
  return (
    <span className="verdicts">
      {gates.map((g, i) => (
        <span key={`${g.gate} ${i}`} className={`status ${tone(g.verdict)}`}>
          <span aria-hidden="true" className="sign">
            {sign(g.verdict)}
          </span>
          <span>
            {g.gate}
            <span className="hidden"> {g.verdict || "not judged yet"}</span>
          </span>
        </span>
      ))}
    </span>
  );
}

// VerdictList is the gates of an attempt, each with what it found.
export function VerdictList({ gates }: { gates: Gate[] }) {
  return (
    <ul className="plain verdictlist">
      {gates.map((g, i) => (
        <li key={`${g.gate} ${i}`}>
          <div className="row">
            <Status status={g.verdict} word={`${g.gate}: ${g.verdict || "not judged yet"}`} />
            <span className="faint">
              {[tests(g), g.ms >= 500 ? lasted(g.ms) : "", g.agent ?? "", g.by ? `by ${g.by}` : "", g.red_first ? "red before the work" : ""].filter(Boolean).join(" · ")}
            </span>
          </div>
          {g.doubt && <p className="status asks">worth a look: {g.doubt}</p>}
          {(g.verdict !== "pass" || g.agent) && <Long text={g.message} />}
          {each(g.failed).length > 0 && (
            <ul className="tests">
              {each(g.failed).slice(0, 20).map((name) => (
                <li key={name}>
                  <code>{name}</code>
                </li>
              ))}
              {each(g.failed).length > 20 && <li className="faint">and {each(g.failed).length - 20} more</li>}
            </ul>
          )}
          {g.details && g.verdict !== "pass" && (
            <details>
              <summary>details</summary>
              <pre className="text">{g.details}</pre>
            </details>
          )}
        </li>
      ))}
    </ul>
  );
}

// ErredList is when gates gave no verdict, and were asked again.
export function ErredList({ erred }: { erred: Erred[] }) {
  if (erred.length === 0) return null;
  return (
    <ul className="plain verdictlist">
      {erred.map((e, i) => (
        <li key={`${e.gate} ${i}`}>
          <div className="row">
            <Status status="error" word={`${e.gate}: ${e.asked_again ? "asked again" : "no verdict"}`} />
            <span className="faint">
              {[e.class ?? "", e.agent ?? ""].filter(Boolean).join(" · ")} <Ago at={e.at} /> ago
            </span>
          </div>
          <Long text={e.message} />
        </li>
      ))}
    </ul>
  );
}

function tests(g: Gate): string {
  if (!g.counts) return "";
  const { passed, failed, skipped } = g.counts;
  const ran = passed + failed;
  return `${passed} of ${count(ran, "test")} passed${skipped ? `, ${skipped} skipped` : ""}`;
}
