import type { Inbox as Answer, Repository } from "../api";
import { Afterwards } from "../parts/afterwards";
import { Loaded, Title } from "../parts/basics";
import { InboxList } from "../parts/inbox";
import { useResource } from "../resource";
import { each } from "../words";

export function Inbox() {
  const inbox = useResource<Answer>("/inbox");
  const repos = each(useResource<Repository[]>("/repos").data);
  const epics = repos.flatMap((r) => each(r.epics).map((e) => ({ ...e, dir: r.dir })));
  return (
    <>
      <Title text="Inbox" />
      <Loaded of={inbox} what="The inbox">
        {({ items }) =>
          each(items).length === 0 ? (
            <p>Nothing waits for you.</p>
          ) : (
            <>
              <p className="faint">
                Oldest first.{" "}
                <span className="bykey">
                  <kbd>j</kbd> <kbd>k</kbd> move, <kbd>Enter</kbd> opens, <kbd>a</kbd> approve, <kbd>r</kbd> reject, <kbd>t</kbd> retry, <kbd>s</kbd> skip.
                </span>
              </p>
              <InboxList items={each(items)} detailed epics={epics.length > 1} repos={repos.length > 1} />
              {epics
                .filter((e) => each(items).some((i) => i.epic === e.id))
                .map((e) => (
                  <Afterwards key={e.id} of={e} dir={e.dir} named={epics.length > 1} />
                ))}
            </>
          )
        }
      </Loaded>
    </>
  );
}
