// Trust: each reason to trust an epic's results, or to look at them, with what proves it.
import type { Epic, Proof, Trust } from "../api";
import { Clock, Command, Loaded, Section, Title } from "../parts/basics";
import { EpicTabs } from "../parts/epictabs";
import { Back, CheckState, worstFirst } from "../parts/trust";
import { useResource } from "../resource";
import { api, to } from "../route";
import { each } from "../words";

export function TrustPage({ epic }: { epic: string }) {
  const e = useResource<Epic>(api.epic(epic)).data;
  const answer = useResource<Trust>(api.trust(epic));
  return (
    <>
      <Title short text={e ? `Trust: ${e.title}` : "Trust"} />
      <EpicTabs epic={epic} at="Trust" />
      <Loaded of={answer} what="What speaks for it and against it">
        {(t) => (
          <>
            {worstFirst(each(t.checks)).map((c) => (
              <Section key={c.name} title={c.title}>
                <p>
                  <CheckState check={c} /> {c.text}
                </p>
                {each(c.proofs).length > 0 && (
                  <details open={c.state === "look" || c.state === "bad"}>
                    <summary>What shows it</summary>
                    <ol className="plain journal">
                      {each(c.proofs).map((p, i) => (
                        <ProofLine key={`${p.seq ?? 0} ${i}`} proof={p} epic={epic} />
                      ))}
                    </ol>
                    {(c.more ?? 0) > 0 && <p className="faint">and {c.more} older</p>}
                  </details>
                )}
              </Section>
            ))}
          </>
        )}
      </Loaded>
    </>
  );
}

function ProofLine({ proof: p, epic }: { proof: Proof; epic: string }) {
  const run = p.step ? { attempt: `${p.step}/${p.attempt ?? 0}` } : undefined;
  return (
    <li>
      {p.at ? <Clock at={p.at} seconds /> : <span />}
      {p.key ? (
        <a className="key" data-row="" href={run && p.file ? to.sprint(epic, p.key, "log", { ...run, file: p.file }) : to.sprint(epic, p.key, run ? "attempts" : "now", run ? { run: run.attempt } : {})}>
          {p.key}
        </a>
      ) : (
        <span />
      )}
      <span className={p.bad ? "text status bad" : "text"}>
        {p.text} {p.command && <Command text={p.command} />}
        <Back text={p.back} />
      </span>
    </li>
  );
}
