// The pages of an epic, as tabs.
import type { EpicLine, Repository } from "../api";
import { useResource } from "../resource";
import { to } from "../route";
import { each } from "../words";

const pages: [string, (epic: string) => string][] = [
  ["Epic", to.epic],
  ["Graph", to.graph],
  ["Timeline", to.time],
  ["Runs", to.runs],
  ["Plan", to.plan],
  ["Cost", to.cost],
  ["Trust", to.trust],
  ["Journal", to.journal],
];

export function EpicTabs({ epic, at }: { epic: string; at: string }) {
  return (
    <nav className="tabs" aria-label="Of this epic">
      {pages.map(([name, href]) => (
        <a key={name} href={href(epic)} aria-current={name === at ? "page" : undefined}>
          {name}
        </a>
      ))}
    </nav>
  );
}

// useEpicLine is an epic without its sprints, of which there may be many.
export function useEpicLine(epic: string): EpicLine | undefined {
  return each(useResource<Repository[]>("/repos").data)
    .flatMap((r) => each(r.epics))
    .find((e) => e.id === epic);
}

// useDir is where the commands about an epic are typed.
export function useDir(epic: string): string {
  return each(useResource<Repository[]>("/repos").data).find((r) => each(r.epics).some((e) => e.id === epic))?.dir ?? "";
}
