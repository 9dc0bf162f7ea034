// Server-sent events by fetch: EventSource can send no Authorization header. No part of
// this file needs a window, so that the shared worker can use it.

export interface Message {
  id: string;
  event: string;
  data: string;
}

// Refusal is an answer other than 200 to a stream's request.
export class Refusal extends Error {
  constructor(readonly status: number) {
    super(`the server answered ${status}`);
  }
}

// readStream reads one stream to its end. alive is called for whatever arrives, also for
// the comments that only say that the server is there.
export async function readStream(
  path: string,
  headers: Record<string, string>,
  signal: AbortSignal,
  on: (m: Message) => void,
  alive: () => void,
): Promise<void> {
  const answer = await fetch(path, { headers: { ...headers, Accept: "text/event-stream" }, signal, cache: "no-store" });
  if (!answer.ok || !answer.body) {
    void answer.body?.cancel();
    throw new Refusal(answer.status);
  }
  alive();
  const parse = parser(on);
  const text = new TextDecoder();
  const reader = answer.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    alive();
    parse(text.decode(value, { stream: true }));
  }
}

// parser returns a function that takes a stream in pieces and calls on for each message.
export function parser(on: (m: Message) => void): (piece: string) => void {
  let rest = "";
  let id = "";
  let event = "";
  let data: string[] = [];
  const line = (text: string) => {
    if (text === "") {
      if (data.length > 0 || event !== "") on({ id, event: event || "message", data: data.join("\n") });
      event = "";
      data = [];
      return;
    }
    const colon = text.indexOf(":");
    const field = colon < 0 ? text : text.slice(0, colon);
    const value = colon < 0 ? "" : text.slice(text[colon + 1] === " " ? colon + 2 : colon + 1);
    if (field === "id") id = value;
    else if (field === "event") event = value;
    else if (field === "data") data.push(value);
  };
  return (piece) => {
    rest += piece;
    let from = 0;
    for (let end = rest.indexOf("\n"); end >= 0; end = rest.indexOf("\n", from)) {
      line(rest.slice(from, rest[end - 1] === "\r" ? end - 1 : end));
      from = end + 1;
    }
    rest = rest.slice(from);
  };
}

export type LinkState = "connecting" | "open" | "lost" | "refused";

const silence = 45_000; // ms; the server says something every 15 s
const shortest = 500;
const longest = 15_000;

// Link keeps one stream open: after it broke it comes back, asking for what it missed.
export class Link {
  private token = "";
  private last = "";
  private stop: AbortController | null = null;
  private wakeUp: (() => void) | null = null;

  constructor(
    private readonly path: string,
    private readonly on: (m: Message) => void,
    private readonly state: (s: LinkState) => void,
  ) {}

  // start opens the stream with a token; with the same one it does nothing.
  start(token: string): void {
    if (token === this.token && this.stop) return this.wake();
    this.token = token;
    this.stop?.abort();
    this.stop = new AbortController();
    void this.run(this.stop.signal);
  }

  // wake tries again now, if it waits.
  wake(): void {
    this.wakeUp?.();
  }

  private async run(stopped: AbortSignal): Promise<void> {
    let pause = shortest;
    this.state("connecting");
    while (!stopped.aborted) {
      try {
        await this.once(stopped, () => (pause = shortest));
      } catch (e) {
        if (stopped.aborted) return;
        if (e instanceof Refusal && e.status === 401) {
          this.stop = null;
          return this.state("refused");
        }
      }
      if (stopped.aborted) return;
      this.state("lost");
      await this.rest(pause * (0.75 + Math.random() / 2));
      pause = Math.min(pause * 2, longest);
    }
  }

  private async once(stopped: AbortSignal, opened: () => void): Promise<void> {
    const end = new AbortController();
    const headers: Record<string, string> = { Authorization: `Bearer ${this.token}` };
    if (this.last) headers["Last-Event-ID"] = this.last;
    let watchdog = setTimeout(() => end.abort(), silence);
    let open = false;
    const alive = () => {
      clearTimeout(watchdog);
      watchdog = setTimeout(() => end.abort(), silence);
      if (open) return;
      open = true;
      opened();
      this.state("open");
    };
    const on = (m: Message) => {
      if (m.id) this.last = m.id;
      this.on(m);
    };
    try {
      await readStream(this.path, headers, AbortSignal.any([stopped, end.signal]), on, alive);
    } finally {
      clearTimeout(watchdog);
    }
  }

  private rest(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.wakeUp = null;
        resolve();
      };
      const timer = setTimeout(done, ms);
      this.wakeUp = done;
    });
  }
}
