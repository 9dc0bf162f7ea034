// Cost: what an epic cost, and where it went.
import type { Cost, CostLine, CostSum, Epic } from "../api";
import { Loaded, Section, Title } from "../parts/basics";
import { EpicTabs } from "../parts/epictabs";
import { useResource } from "../resource";
import { api, to } from "../route";
import { dollars, each, lasted, phaseName, whole } from "../words";

export function CostPage({ epic }: { epic: string }) {
  const e = useResource<Epic>(api.epic(epic)).data;
  const answer = useResource<Cost>(api.cost(epic));
  return (
    <>
      <Title short text={e ? `Cost: ${e.title}` : "Cost"} />
      <EpicTabs epic={epic} at="Cost" />
      <Loaded of={answer} what="The cost">
        {(c) => (
          <>
            <p>Spent: {c.spent}</p>
            <p>In turns of agents: {c.all.text}</p>
            <p>In attempts that did not pass: {c.lost.text}</p>
            <Table title="By sprint, the costliest" lines={each(c.sprints)} href={(l) => to.sprint(epic, l.name, "attempts")} />
            <Table title="By phase" lines={each(c.phases)} named={(l) => phaseName(l.name, l.title ?? "")} />
            <Table title="By agent" lines={each(c.agents)} />
            <Table title="By model" lines={each(c.models)} />
            <Table title="By outcome of the attempt" lines={each(c.outcomes)} />
          </>
        )}
      </Loaded>
    </>
  );
}

// Table is left out where no line has a name, as in a plan without phases.
function Table({ title, lines, href, named = (l) => l.title || l.name }: { title: string; lines: CostLine[]; href?: (l: CostLine) => string; named?: (l: CostLine) => string }) {
  if (lines.every((l) => l.name === "")) return null;
  return (
    <Section title={title}>
      <div className="wide">
        <table>
          <thead>
            <tr>
              <th scope="col">name</th>
              <th scope="col" className="figure">
                cost
              </th>
              <th scope="col" className="figure">
                tokens
              </th>
              <th scope="col" className="figure">
                work
              </th>
            </tr>
          </thead>
          <tbody>
            {lines.map((l) => (
              <tr key={l.name}>
                <th scope="row">
                  {href ? (
                    <a href={href(l)} data-row="">
                      <span className="key">{l.name}</span> {l.title}
                    </a>
                  ) : (
                    named(l)
                  )}
                </th>
                <td className="figure">{usd(l)}</td>
                <td className="figure">{tokens(l)}</td>
                <td className="figure">{lasted(l.ms)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  );
}

const usd = (s: CostSum): string => (s.usd_known ? dollars(s.usd_micro) : s.usd_micro > 0 ? `≥ ${dollars(s.usd_micro)}` : "unknown");
const tokens = (s: CostSum): string => (s.tokens_known ? whole(s.tokens) : s.tokens > 0 ? `≥ ${whole(s.tokens)}` : "unknown");
