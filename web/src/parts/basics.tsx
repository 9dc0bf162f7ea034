// Small parts that all pages use.
import { useEffect, useRef, useState, useSyncExternalStore, type ReactNode } from "react";
import type { Inbox } from "../api";
import type { Failure } from "../client";
import { frozen } from "../frozen";
import { useResource, type Resource } from "../resource";
import { webAddress } from "../reveal";
import { ago, clock, each, sign, tone, type Tone } from "../words";

// Status is sign, word and colour; the colour alone says nothing.
export function Status({ status, word, short }: { status: string; word?: string | undefined; short?: boolean }) {
  const said = word || status;
  return (
    <span className={`status ${tone(status)}`} title={short ? said : undefined}>
      <span aria-hidden="true" className="sign">
        {sign(status)}
      </span>
      {short ? <span className="hidden">{said}</span> : <span>{said}</span>}
    </span>
  );
}

// Title is the heading of the page, and the name of its tab, with how much waits. A short one
// is cut after some lines: the page is not about what it names.
export function Title({ text, short, children }: { text: string; short?: boolean; children?: ReactNode }) {
  const waits = each(useResource<Inbox>("/inbox").data?.items).length;
  useEffect(() => {
    document.title = `${waits > 0 ? `(${waits}) ` : ""}${text} · ralph`;
  }, [text, waits]);
  return (
    <h1 className={short ? "short" : undefined} title={short ? text : undefined}>
      {children ?? text}
    </h1>
  );
}

function Toned({ tone: t, children }: { tone: Tone; children: ReactNode }) {
  return <span className={`status ${t}`}>{children}</span>;
}

// A clock that all parts share, so that they agree.
const time = () => frozen?.at ?? Date.now(); // in a report it stands still
let now = time();
const watchers = new Set<() => void>();
setInterval(() => {
  now = time();
  if (document.visibilityState === "visible") for (const tell of watchers) tell();
}, 1000);

function watchNow(tell: () => void): () => void {
  watchers.add(tell);
  return () => watchers.delete(tell);
}

// useNow is the time; what depends on it is drawn again only when it looks different.
export function useNow<T>(look: (now: number) => T): T {
  return useSyncExternalStore(watchNow, () => look(now));
}

export function Ago({ at }: { at: string | null | undefined }) {
  const text = useNow((t) => (at ? ago(at, t) : ""));
  const full = useNow((t) => (at ? clock(at, t, true) : ""));
  if (!at) return null;
  return (
    <time dateTime={at} title={full}>
      {text}
    </time>
  );
}

export function Clock({ at, seconds }: { at: string | null | undefined; seconds?: boolean }) {
  const text = useNow((t) => (at ? clock(at, t, seconds) : ""));
  return at ? <time dateTime={at}>{text}</time> : null;
}

// Loaded shows an answer when it is there, and why it is not.
export function Loaded<T>({ of, what, children }: { of: Resource<T>; what: string; children: (data: T) => ReactNode }) {
  return (
    <>
      {of.failure && (of.failure.status !== 0 || of.data === undefined) && <Trouble failure={of.failure} what={what} />}
      {of.data !== undefined ? children(of.data) : !of.failure && <Loading what={what} />}
    </>
  );
}

// Loading says nothing at first: most answers are there at once.
function Loading({ what }: { what: string }) {
  const [slow, setSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), 400);
    return () => clearTimeout(timer);
  }, []);
  return slow ? <p className="faint loading">Reading {what.charAt(0).toLowerCase() + what.slice(1)} …</p> : null;
}

export function Trouble({ failure, what }: { failure: Failure; what?: string }) {
  if (frozen && failure.status === 404)
    return (
      <p className="faint">
        {what ? `${what}: ` : ""}
        {failure.fault.error} {failure.fault.hint}
      </p>
    );
  return (
    <div role="alert" className="trouble">
      <p>
        <Toned tone="bad">
          <span aria-hidden="true" className="sign">
            !
          </span>
          <span className="said">
            {what ? `${what}: ` : ""}
            {failure.fault.error}
          </span>
        </Toned>
      </p>
      {failure.fault.hint && <p className="said">{failure.fault.hint}</p>}
    </div>
  );
}

// Command is something to type at a terminal.
export function Command({ text }: { text: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 2000);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <span className="command">
      <code>{text}</code>
      <button type="button" className="small" onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}>
        {copied ? "copied" : "copy"}
        <span className="hidden"> {text}</span>
      </button>
    </span>
  );
}

// Web is a link to an address that others have written; text, if it is none of the web.
export function Web({ url, children }: { url: string | undefined; children?: ReactNode }) {
  const href = webAddress(url);
  if (!href) return <>{children ?? url}</>;
  return (
    <a href={href} rel="noreferrer noopener" target="_blank">
      {children ?? url}
    </a>
  );
}

export function Section({ title, count, id, children, aside }: { title: string; count?: number; id?: string; children: ReactNode; aside?: ReactNode }) {
  return (
    <section aria-label={title} id={id}>
      <header className="head">
        <h2>
          {title}
          {count !== undefined && <span className="count"> {count}</span>}
        </h2>
        {aside}
      </header>
      {children}
    </section>
  );
}

// Long is a text of others: its first lines, and all of it if one asks.
export function Long({ text, lines = 12 }: { text: string | undefined; lines?: number }) {
  const [open, setOpen] = useState(false);
  if (!text) return null;
  const all = text.split("\n");
  const cut = !open && (all.length > lines + 2 || text.length > lines * 160);
  return (
    <>
      <p className="said">{cut ? all.slice(0, lines).join("\n").slice(0, lines * 160) : text}</p>
      {cut && (
        <button type="button" className="small" onClick={() => setOpen(true)}>
          all of it ({all.length === 1 ? `${text.length} characters` : `${all.length} lines`})
        </button>
      )}
    </>
  );
}

// Dialog is open as long as it is there.
export function Dialog({ title, onClose, children }: { title: string; onClose: () => void; children: ReactNode }) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    const dialog = ref.current;
    dialog?.showModal();
    dialog?.querySelector<HTMLElement>("[data-first]")?.focus();
    return () => {
      dialog?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog ref={ref} aria-label={title} onClose={onClose} onClick={(e) => e.target === ref.current && onClose()}>
      <div className="sheet">
        <header className="head">
          <h2>{title}</h2>
          <button type="button" className="small" onClick={onClose}>
            close
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}
