// The shared worker: one stream of events for all tabs of the page. A browser opens at most
// six connections to a host, and a stream of each tab would hang the seventh.
import type { Entry } from "./api";
import { Link, type LinkState } from "./stream";

// What tabs say, and what they are told.
export type Ask = { token: string; tab: string } | { wake: true };
export interface Told {
  state?: LinkState;
  token?: string; // with the state: the one that the stream was asked for with
  entries?: Entry[];
  reset?: true;
}

declare const self: {
  onconnect: ((e: MessageEvent) => void) | null;
  navigator: Navigator;
};

const tabs = new Set<MessagePort>();
let state: LinkState = "connecting";
let token = "";
let gathered: Entry[] = [];

const tell = (what: Told) => {
  for (const tab of tabs) tab.postMessage(what);
};

const link = new Link(
  "/api/v1/events",
  (m) => {
    if (m.event === "reset") return tell({ reset: true });
    if (m.event !== "journal" && m.event !== "change") return;
    if (gathered.length === 0) setTimeout(flush, 50);
    gathered.push(JSON.parse(m.data) as Entry);
  },
  (s) => {
    state = s;
    tell({ state, token });
  },
);

function flush(): void {
  const entries = gathered;
  gathered = [];
  tell({ entries });
}

self.onconnect = (e) => {
  const port = e.ports[0];
  if (!port) return;
  tabs.add(port);
  port.postMessage({ state, token } satisfies Told);
  port.onmessage = (m: MessageEvent<Ask>) => {
    if ("wake" in m.data) return link.wake();
    token = m.data.token;
    link.start(token);
    // A tab holds a lock of its name as long as it lives.
    void self.navigator.locks.request(m.data.tab, () => void tabs.delete(port));
  };
};
