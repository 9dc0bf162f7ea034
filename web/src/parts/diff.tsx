// A diff: files that open and close, lines that wrap.
import { memo, useEffect, useMemo, useState } from "react";
import type { Diff, FileChange } from "../api";
import { parseDiff, type DiffFile, type DiffLine, type Hunk } from "../diff";
import { frozen } from "../frozen";
import { useResource } from "../resource";
import { reveal } from "../reveal";
import { count, each } from "../words";
import { Command, Loaded } from "./basics";

const long = 800; // lines of a file that is shut at first
const block = 120; // lines that the browser draws, or does not, together
const atOnce = 20; // blocks of a hunk that are made when it is opened; the rest follows
const aFrame = 8; // blocks that are made in a frame, so that nothing stands still

// DiffView shows a diff, which is the answer at a path.
export function DiffView({ diff, path }: { diff: Diff; path: string }) {
  const all = useMemo(() => parseDiff(diff.patch), [diff.patch]);
  const files = diff.truncated && !frozen && all.length > 1 ? all.slice(0, -1) : all; // the last one may be cut: it opens below
  if (files.length === 0 && each(diff.files).length === 0) return <p className="faint">{[...(diff.to.commit || each(diff.notes).length === 0 ? ["Nothing is changed"] : []), ...each(diff.notes)].join("; ")}.</p>;
  return (
    <div className="diff">
      <p className="faint">
        <Size files={each(diff.files)} />
        {diff.to.commit && (
          <>
            {" "}
            · <Base of={diff} /> to <code>{diff.to.commit.slice(0, 12)}</code>
          </>
        )}
        {diff.step && ` · ${diff.step} #${diff.attempt ?? 0}`}
      </p>
      <Cut of={diff} what={frozen ? ": the files that follow are only counted" : ": the files that it leaves out open below"} />
      {each(diff.notes).map((n) => (
        <p key={n}>{n}</p>
      ))}
      {files.map((f, i) => (
        <File key={`${f.path} ${i}`} file={f} of={files.length} />
      ))}
      <Missing all={each(diff.files)} shown={files} path={path} />
    </div>
  );
}

// Cut says that a diff is longer, and what shows more of it.
function Cut({ of: d, what = "" }: { of: Diff; what?: string }) {
  if (!d.truncated) return null;
  return (
    <>
      <p className="status asks">The diff is cut{what}.</p>
      {d.command && (
        <p>
          At a terminal: <Command text={d.command} />
        </p>
      )}
    </>
  );
}

// Base is where a diff begins; what joins several results has no commit of its own.
function Base({ of: { from } }: { of: Diff }) {
  if (from.commit) return <code>{from.commit.slice(0, 12)}</code>;
  if (!from.tree) return <>an unknown base</>;
  return (
    <>
      what it needs, joined (tree <code>{from.tree.slice(0, 12)}</code>),
    </>
  );
}

export function Size({ files }: { files: FileChange[] }) {
  const sum = (of: (f: FileChange) => number) => files.reduce((n, f) => n + Math.max(0, of(f)), 0);
  return (
    <span>
      {count(files.length, "file")}, <span className="plus">+{sum((f) => f.added)}</span> <span className="minus">−{sum((f) => f.removed)}</span>
    </span>
  );
}

// Missing lists the files that a diff leaves out.
function Missing({ all, shown, path }: { all: FileChange[]; shown: DiffFile[]; path: string }) {
  const here = new Set(shown.map((f) => f.path));
  const missing = all.filter((f) => !here.has(f.path));
  if (missing.length === 0) return null;
  return (
    <ul className="plain faint">
      {missing.slice(0, 200).map((f) => (
        <li key={f.path}>
          {frozen ? (
            <>
              <Name of={f} />, not in this diff
            </>
          ) : (
            <Alone of={f} path={path} />
          )}
        </li>
      ))}
      {missing.length > 200 && <li>and {missing.length - 200} more</li>}
    </ul>
  );
}

function Name({ of: f }: { of: FileChange }) {
  return (
    <>
      <code>{f.path}</code> {f.type} {f.added < 0 ? "binary" : `+${f.added} −${f.removed}`}
    </>
  );
}

// Alone is a file of a diff that is asked for when it is opened.
function Alone({ of: f, path }: { of: FileChange; path: string }) {
  const [open, setOpen] = useState(false);
  const diff = useResource<Diff>(open ? `${path}${path.includes("?") ? "&" : "?"}path=${encodeURIComponent(f.path)}` : null);
  return (
    <details open={open} onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary data-row="">
        <Name of={f} />
      </summary>
      {open && (
        <Loaded of={diff} what="The diff of the file">
          {(d) => (
            <>
              <Cut of={d} />
              {parseDiff(d.patch).map((one) => (
                <File key={one.path} file={one} of={1} />
              ))}
            </>
          )}
        </Loaded>
      )}
    </details>
  );
}

function File({ file, of }: { file: DiffFile; of: number }) {
  const [open, setOpen] = useState(file.size <= long && of <= 60);
  return (
    <details open={open} onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary data-row="">
        <code>{reveal(file.from ? `${file.from} → ${file.path}` : file.path, true)}</code>{" "}
        <span className="plus">+{file.added}</span> <span className="minus">−{file.removed}</span>
      </summary>
      {file.notes.map((n) => (
        <p key={n} className="faint">
          {reveal(n, true)}
        </p>
      ))}
      {open && file.hunks.map((h, i) => <HunkView key={i} hunk={h} />)}
    </details>
  );
}

const HunkView = memo(function HunkView({ hunk }: { hunk: Hunk }) {
  const blocks = useMemo(() => Array.from({ length: Math.ceil(hunk.lines.length / block) }, (_, i) => hunk.lines.slice(i * block, (i + 1) * block)), [hunk]);
  const [made, setMade] = useState(atOnce);
  useEffect(() => {
    if (made >= blocks.length) return;
    const frame = requestAnimationFrame(() => setMade(made + aFrame));
    return () => cancelAnimationFrame(frame);
  }, [made, blocks]);
  return (
    <div className="hunk">
      <div className="hunkhead">{reveal(hunk.head, true)}</div>
      {blocks.slice(0, made).map((lines, i) => (
        <Block key={i} lines={lines} />
      ))}
    </div>
  );
});

const Block = memo(function Block({ lines }: { lines: DiffLine[] }) {
  return (
    <div className="block" style={{ containIntrinsicHeight: `auto ${lines.length * 1.45}em` }}>
      {lines.map((l, j) => (
        <div key={j} className={`l ${l.kind}`} data-was={l.was || ""} data-is={l.is || ""}>
          {signs[l.kind] + reveal(l.text, true)}
        </div>
      ))}
    </div>
  );
});

const signs = { same: " ", add: "+", del: "−", note: " " };
