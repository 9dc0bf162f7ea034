// Words, signs and figures.

// signs show a status without its colour.
const signs: Record<string, string> = {
  done: "✔",
  running: "▶",
  waiting: "?",
  blocked: "■",
  skipped: "↷",
  cancelled: "✕",
  ready: "○",
  pending: "·",
  interrupted: "▷",
  "goes on": "▷",
  replaced: "↻",
  // of attempts
  passed: "✔",
  failed: "✗",
  stopped: "■",
  timeout: "✗",
  stalled: "✗",
  error: "!",
  // of gates
  pass: "✔",
  fail: "✗",
  stop: "■",
};

// A selector follows, so that no sign is drawn as a coloured emoji.
export const sign = (status: string): string => `${signs[status] ?? "·"}\ufe0e`;

// Tone is the colour of a status.
export type Tone = "good" | "bad" | "asks" | "busy" | "faint";

export function tone(status: string): Tone {
  switch (status) {
    case "done":
    case "passed":
    case "pass":
      return "good";
    case "blocked":
    case "failed":
    case "fail":
    case "stopped":
    case "stop":
    case "timeout":
    case "stalled":
      return "bad";
    case "waiting":
    case "error":
    case "interrupted":
      return "asks";
    case "running":
      return "busy";
  }
  return "faint";
}

// Need is what n and N look for. A sprint that has been decided, or that waits for a timer,
// needs nobody.
export type Need = "waits" | "failed";

export const needOf = (human: boolean | undefined, status: string): Need | "" => (human ? "waits" : status === "blocked" ? "failed" : "");

// needOfState is that of a state as …/status has it.
export const needOfState = (state: string | undefined): Need | "" => needOf(state === "waiting human", state ?? "");

// inAll is what sprints of a status are called where they are counted.
export const inAll = (status: string, n: number): string => (status === "blocked" ? "failed" : status === "goes on" && n !== 1 ? "go on" : status);

export const count = (n: number, one: string, many = `${one}s`): string => `${whole(n)} ${n === 1 ? one : many}`;

const figures = new Intl.NumberFormat("en");
export const whole = (n: number): string => figures.format(n);

const two = (n: number): string => String(n).padStart(2, "0");

// lasted is a duration as the server writes it in its texts (words.Brief): 0.2s, 12s, 3m05s,
// 2h10m, 3d4h.
export function lasted(ms: number): string {
  if (ms <= 0) return "0s";
  if (ms < 950) return `0.${Math.max(1, Math.round(ms / 100))}s`;
  const s = Math.max(1, Math.floor(ms / 1000));
  const min = Math.floor(s / 60);
  const h = Math.floor(min / 60);
  if (min < 1) return `${s}s`;
  if (h < 1) return `${min}m${two(s % 60)}s`;
  if (h < 24) return `${h}h${two(min % 60)}m`;
  return `${Math.floor(h / 24)}d${h % 24}h`;
}

// ago is how long something has been so, in one unit. A clock that was set back makes no
// negative time.
export function ago(at: string, now: number): string {
  const s = Math.max(0, (now - Date.parse(at)) / 1000);
  if (s < 60) return `${Math.floor(s)}s`;
  if (s < 3600) return `${Math.floor(s / 60)}m`;
  if (s < 48 * 3600) return `${Math.floor(s / 3600)}h`;
  return `${Math.floor(s / 86400)}d`;
}

// clock is a time here; with the date, if that is not today.
export function clock(at: string, now: number, seconds = false): string {
  const t = new Date(at);
  if (Number.isNaN(t.getTime())) return at;
  const time = `${two(t.getHours())}:${two(t.getMinutes())}${seconds ? `:${two(t.getSeconds())}` : ""}`;
  return t.toDateString() === new Date(now).toDateString() ? time : `${t.getFullYear()}-${two(t.getMonth() + 1)}-${two(t.getDate())} ${time}`;
}

// costs names a cost that is not known.
export const costs = (spent: string): string => (spent === "unknown" ? "cost unknown" : spent);

// dollars is an amount as the server writes it (words.Dollars): four decimals below a cent.
export function dollars(micro: number): string {
  return `$${(micro / 1e6).toFixed(micro > 0 && micro < 10_000 ? 4 : 2)}`;
}

export function bytes(n: number): string {
  if (n >= 10 << 20) return `${n >> 20} MB`;
  if (n >= 10 << 10) return `${n >> 10} kB`;
  return `${n} B`;
}

// named is the first names of a list, and how many there are beside them.
export function named(names: string[], total: number): string {
  const shown = names.slice(0, names.length > 4 ? 3 : 4);
  if (shown.length === 0) return whole(total);
  return shown.join(", ") + (total > shown.length ? ` and ${whole(total - shown.length)} more` : "");
}

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

export const firstLine = (text: string | undefined): string => (text ?? "").split("\n", 1)[0] ?? "";

export const each = <T>(list: T[] | null | undefined): T[] => list ?? [];

// spent is a cost. What was not reported stays unknown: then it is at least what is known.
export function spent(of: { tokens: number | null; tokens_at_least: number; usd_micro: number | null; usd_micro_at_least: number }): string {
  if (of.usd_micro) return dollars(of.usd_micro);
  if (of.usd_micro_at_least > 0) return `≥ ${dollars(of.usd_micro_at_least)}`;
  if (of.tokens) return `${whole(of.tokens)} tokens`;
  if (of.tokens_at_least > 0) return `≥ ${whole(of.tokens_at_least)} tokens`;
  return of.tokens === null && of.usd_micro === null ? "cost unknown" : "";
}

// phaseName is a phase's key and title, without saying its number twice.
export function phaseName(key: string, title: string): string {
  if (!title) return key || "Without a phase";
  return key && !title.toLowerCase().includes(key.toLowerCase()) ? `${key} ${title}` : title;
}
