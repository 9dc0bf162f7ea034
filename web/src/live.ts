// What happens, as it happens: entries of the journals, from one stream for all tabs.
import type { Entry } from "./api";
import { Store } from "./store";
import { Link, type LinkState } from "./stream";
import { token } from "./token";
import type { Ask, Told } from "./worker";
import workerURL from "./worker?sharedworker&url";

export const link = new Store<LinkState>("connecting");

// refused is the token that the server did not take; "" is none.
export const refused = new Store("");

const listeners = new Set<(entries: Entry[]) => void>();
const resets = new Set<() => void>();

// onEntries calls tell with what is new. onReset calls it when anything may be new.
export function onEntries(tell: (entries: Entry[]) => void): () => void {
  listeners.add(tell);
  return () => listeners.delete(tell);
}
export function onReset(tell: () => void): () => void {
  resets.add(tell);
  return () => resets.delete(tell);
}

function hear(told: Told): void {
  if (told.entries) for (const tell of listeners) tell(told.entries);
  if (told.state && (told.token === undefined || told.token === token.get())) {
    link.set(told.state);
    if (told.state === "refused") refused.set(token.get());
    if (told.state === "open") refused.set("");
  }
  if (told.reset || told.state === "open") for (const tell of resets) tell();
}

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): unknown };
}

// The one policy of the page: scripts come from its own assets.
const policy = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes?.createPolicy("ralph", {
  createScriptURL(url) {
    if (new URL(url, location.origin).origin !== location.origin) throw new TypeError(`no script of the page: ${url}`);
    return url;
  },
});

// ownScript is the address of a script of the page, as workers take it.
export const ownScript = (url: string): string => (policy ? policy.createScriptURL(url) : url) as string;

interface Connection {
  start(token: string): void;
  wake(): void;
}

function shared(): Connection {
  const tab = `ralph-tab-${crypto.randomUUID()}`;
  // Held until the tab is closed or crashes: so the worker knows. Asked for first.
  const held = new Promise<void>((resolve) => {
    void navigator.locks.request(tab, () => {
      resolve();
      return new Promise(() => undefined);
    });
  });
  const worker = new SharedWorker(ownScript(workerURL), { type: "module", name: "ralph" });
  worker.port.onmessage = (m: MessageEvent<Told>) => hear(m.data);
  const say = (what: Ask) => worker.port.postMessage(what);
  return {
    start: (token) => void held.then(() => say({ token, tab })),
    wake: () => say({ wake: true }),
  };
}

function alone(): Connection {
  return new Link(
    "/api/v1/events",
    (m) => {
      if (m.event === "reset") hear({ reset: true });
      else if (m.event === "journal" || m.event === "change") hear({ entries: [JSON.parse(m.data) as Entry] });
    },
    (state) => hear({ state }),
  );
}

// goLive opens the stream, and again with each new token.
export function goLive(): void {
  const connection = "SharedWorker" in globalThis && "locks" in navigator ? shared() : alone();
  const start = (t: string) => {
    if (t) connection.start(t);
    else link.set("refused");
  };
  start(token.get());
  token.watch(start);
  addEventListener("online", () => connection.wake());
  addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") connection.wake();
  });
}
