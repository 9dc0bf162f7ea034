// Answers of the server, kept, and asked for anew when something has happened to them.
import { useCallback, useSyncExternalStore } from "react";
import { Failure, get, parse } from "./client";
import { link, onEntries, onReset, refused } from "./live";
import { reveal } from "./reveal";
import { token } from "./token";

export interface Resource<T> {
  data: T | undefined; // the last answer; it stays while the server is away
  failure: Failure | undefined; // of the last request
}

const often = 250; // ms between two requests of the same path, at least
const share = 10; // one request takes at most this part of the time
const most = 80; // answers that are kept

class Held {
  snapshot: Resource<unknown> = { data: undefined, failure: undefined };
  readonly users = new Set<() => void>();
  private etag = "";
  private loading = false;
  private current: Promise<void> = Promise.resolve();
  private stale = true;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private earliest = 0;
  private pause = 2000;

  constructor(
    readonly path: string,
    private readonly asText: boolean,
    readonly still: boolean, // it does not change with events
  ) {}

  // touch says that the answer may be another one now.
  touch(): void {
    this.stale = true;
    this.plan(Math.max(0, this.earliest - performance.now()));
  }

  // wake asks for what was not asked for while the page was hidden.
  wake(): void {
    if (this.stale) this.touch();
  }

  private plan(wait: number): void {
    if (this.loading || this.timer !== undefined || this.users.size === 0) return;
    if (document.hidden && this.path !== "/inbox") return; // its count stands in the tab's name
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.current = this.load();
    }, wait);
  }

  // anew asks now, and once more if a request is under way, which may miss what is new.
  async anew(): Promise<void> {
    await this.current;
    this.current = this.load();
    await this.current;
  }

  private async load(): Promise<void> {
    if (this.loading || !token.get() || refused.get() === token.get()) return;
    clearTimeout(this.timer);
    this.timer = undefined;
    if (link.get() === "lost" && this.snapshot.data !== undefined) return; // it stays stale until the stream is back
    this.loading = true;
    this.stale = false;
    const begun = performance.now();
    let again = -1;
    try {
      const answer = await get(this.path, this.snapshot.data === undefined ? "" : this.etag);
      if (answer.fresh) {
        this.etag = answer.etag;
        this.show({ data: this.asText ? reveal(answer.text) : parse(answer.text), failure: undefined });
      } else if (this.snapshot.failure) {
        this.show({ data: this.snapshot.data, failure: undefined });
      }
      this.pause = 2000;
    } catch (e) {
      const failure = e instanceof Failure ? e : new Failure(0, { error: String(e), reason: "broken" });
      if (failure.status !== 401) this.show({ data: this.snapshot.data, failure });
      // While the stream is lost nobody asks: when it is back, everything is asked anew.
      if (failure.status >= 500 || (failure.status === 0 && link.get() === "open")) again = this.pause;
      this.pause = Math.min(this.pause * 2, 30_000);
    }
    const took = performance.now() - begun;
    this.earliest = begun + Math.max(often, took * share);
    this.loading = false;
    if (again >= 0) this.plan(again);
    else if (this.stale) this.touch();
  }

  private show(s: Resource<unknown>): void {
    this.snapshot = s;
    for (const tell of this.users) tell();
  }
}

const held = new Map<string, Held>();

function hold(path: string, asText: boolean, still: boolean): Held {
  let h = held.get(path);
  if (h) {
    held.delete(path); // the last used is the last of the map
  } else {
    h = new Held(path, asText, still);
    for (const [old, o] of held) {
      if (held.size < most) break;
      if (o.users.size === 0) held.delete(old);
    }
  }
  held.set(path, h);
  return h;
}

const none: Resource<never> = { data: undefined, failure: undefined };

function use(path: string | null, asText: boolean, still: boolean): Resource<unknown> {
  const subscribe = useCallback(
    (tell: () => void) => {
      if (path === null) return () => undefined;
      const h = hold(path, asText, still);
      h.users.add(tell);
      h.touch();
      return () => h.users.delete(tell);
    },
    [path, asText, still],
  );
  return useSyncExternalStore(subscribe, () => (path === null ? none : (held.get(path)?.snapshot ?? none)));
}

// useResource is the answer to GET of a path below /api/v1; null asks for nothing. It is
// asked for anew when something happens to its epic.
export function useResource<T>(path: string | null, still = false): Resource<T> {
  return use(path, false, still) as Resource<T>;
}

// useText is the same for what is no JSON.
export function useText(path: string | null): Resource<string> {
  return use(path, true, true) as Resource<string>;
}

// refresh asks for an answer anew, and returns when it is there.
export async function refresh(path: string): Promise<void> {
  await held.get(path)?.anew();
}

// ahead asks for an answer that will be shown.
export function ahead(path: string): void {
  void hold(path, false, false).anew();
}

const epicOf = /^\/epics\/([^/?]+)/;

// keepFresh connects what is kept with what happens.
export function keepFresh(): void {
  const all = () => {
    for (const h of held.values()) h.touch();
  };
  onEntries((entries) => {
    const epics = new Set(entries.map((e) => encodeURIComponent(e.epic)));
    for (const h of held.values()) {
      const epic = epicOf.exec(h.path)?.[1];
      if (!h.still && (epic === undefined || epics.has(epic))) h.touch();
    }
  });
  onReset(all);
  token.watch(all);
  link.watch((s) => {
    if (s === "open") all();
  });
  addEventListener("visibilitychange", () => {
    for (const h of held.values()) h.wake();
  });
}
