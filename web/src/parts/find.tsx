// Find a sprint of the present epic, or of all.
import { useState, type KeyboardEvent } from "react";
import type { Epic, Repository } from "../api";
import { useResource } from "../resource";
import { api, go, to } from "../route";
import { each } from "../words";
import { Dialog, Status } from "./basics";

interface Found {
  href: string;
  title: string;
  key: string;
  status: string;
  word: string;
}

const most = 50;

export function Find({ epic, onClose }: { epic: string; onClose: () => void }) {
  const repos = useResource<Repository[]>("/repos").data;
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const epics = each(repos).flatMap((r) => each(r.epics));
  const one = epic || (epics.length === 1 ? (epics[0]?.id ?? "") : "");
  const sprints = useResource<Epic>(one ? api.epic(one) : null).data;
  const found: Found[] = [];
  if (sprints) {
    for (const s of each(sprints.sprints)) {
      if (found.length < most && matches(text, s.key, s.title)) found.push({ href: to.sprint(one, s.key), key: s.key, title: s.title, status: s.shown, word: s.word });
    }
  }
  for (const e of epics) {
    if (found.length < most && matches(text, e.slug, e.title)) found.push({ href: to.epic(e.id), key: "", title: e.title, status: "", word: "" });
  }
  const open = (f: Found | undefined) => {
    if (!f) return;
    onClose();
    go(f.href);
  };
  const press = (e: KeyboardEvent) => {
    const by = e.key === "ArrowDown" ? 1 : e.key === "ArrowUp" ? -1 : 0;
    if (by === 0) return;
    e.preventDefault();
    setAt(Math.max(0, Math.min(found.length - 1, at + by)));
  };
  return (
    <Dialog title={one ? "Find a sprint" : "Find an epic"} onClose={onClose}>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          open(found[at]);
        }}
      >
        <input
          type="search"
          aria-label="Find"
          data-first=""
          value={text}
          onKeyDown={press}
          onChange={(e) => {
            setText(e.target.value);
            setAt(0);
          }}
        />
      </form>
      <ul className="plain found">
        {found.map((f, i) => (
          <li key={f.href} className={i === at ? "chosen" : ""}>
            <a href={f.href} onClick={onClose}>
              {f.status && <Status status={f.status} word={f.word} short />}
              {f.key && <span className="key">{f.key}</span>} <span>{f.title}</span>
            </a>
          </li>
        ))}
        {found.length === 0 && <li className="faint">Nothing has all of these words.</li>}
      </ul>
    </Dialog>
  );
}

// matches reports whether a key and title have all words of a text.
export function matches(text: string, key: string, title: string): boolean {
  const all = `${key} ${title}`.toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
}
