// The page in the fragment of the address: #/e/EPIC/n/KEY/TAB?run=…
import { Store, useStore } from "./store";

export const tabs = ["now", "attempts", "diff", "log", "prompt", "why"] as const;
export type Tab = (typeof tabs)[number];

export type Place =
  | { page: "morning" }
  | { page: "inbox" }
  | { page: "epic"; epic: string }
  | { page: "runs"; epic: string }
  | { page: "graph"; epic: string }
  | { page: "time"; epic: string }
  | { page: "plan"; epic: string }
  | { page: "cost"; epic: string }
  | { page: "trust"; epic: string }
  | { page: "journal"; epic: string }
  | { page: "sprint"; epic: string; key: string; tab: Tab }
  | { page: "unknown"; address: string };

export type Route = Place & { query: URLSearchParams; href: string };

export function parseRoute(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#/, "").split("?", 2);
  const parts = path.split("/").filter(Boolean).map(decode);
  return { ...place(parts, path), query: new URLSearchParams(query), href: hash || "#/" };
}

function place(parts: string[], address: string): Place {
  const [first, epic, what, key, tab] = parts;
  if (first === undefined) return { page: "morning" };
  if (first === "inbox" && epic === undefined) return { page: "inbox" };
  if (first !== "e" || !epic) return { page: "unknown", address };
  if (what === undefined) return { page: "epic", epic };
  if (what === "runs" || what === "graph" || what === "time" || what === "plan" || what === "cost" || what === "trust") return { page: what, epic };
  if (what === "log") return { page: "journal", epic };
  if (what === "n" && key) return { page: "sprint", epic, key, tab: tabs.find((t) => t === tab) ?? "now" };
  return { page: "unknown", address };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

const e = encodeURIComponent;
export const to = {
  morning: "#/",
  inbox: "#/inbox",
  epic: (epic: string) => `#/e/${e(epic)}`,
  runs: (epic: string) => `#/e/${e(epic)}/runs`,
  graph: (epic: string) => `#/e/${e(epic)}/graph`,
  time: (epic: string) => `#/e/${e(epic)}/time`,
  plan: (epic: string) => `#/e/${e(epic)}/plan`,
  cost: (epic: string) => `#/e/${e(epic)}/cost`,
  trust: (epic: string) => `#/e/${e(epic)}/trust`,
  journal: (epic: string) => `#/e/${e(epic)}/log`,
  sprint: (epic: string, key: string, tab: Tab = "now", query: Record<string, string> = {}) => {
    const q = new URLSearchParams(query).toString();
    return `#/e/${e(epic)}/n/${e(key)}/${tab}${q ? `?${q}` : ""}`;
  },
};

// Paths of /api/v1.
export const api = {
  epic: (epic: string) => `/epics/${e(epic)}`,
  runs: (epic: string) => `/epics/${e(epic)}/runs`,
  graph: (epic: string) => `/epics/${e(epic)}/graph`,
  result: (epic: string) => `/epics/${e(epic)}/result`,
  timeline: (epic: string) => `/epics/${e(epic)}/timeline`,
  status: (epic: string) => `/epics/${e(epic)}/status`,
  plan: (epic: string) => `/epics/${e(epic)}/plan`,
  cost: (epic: string) => `/epics/${e(epic)}/cost`,
  trust: (epic: string) => `/epics/${e(epic)}/trust`,
  log: (epic: string, key: string, kind = "", before = 0) => `/epics/${e(epic)}/log?limit=100${key ? `&key=${e(key)}` : ""}${kind ? `&kind=${e(kind)}` : ""}${before ? `&before=${before}` : ""}`,
  sprint: (epic: string, key: string) => `/epics/${e(epic)}/nodes/${e(key)}`,
  attempt: (epic: string, key: string, step: string, attempt: number) => `/epics/${e(epic)}/nodes/${e(key)}/attempts/${e(step)}/${attempt}`,
  file: (epic: string, key: string, step: string, attempt: number, name: string) =>
    `${api.attempt(epic, key, step, attempt)}/files/${name.split("/").map(e).join("/")}`,
  tail: (epic: string, key: string, step: string, attempt: number, file: string, from: number) =>
    `/api/v1/epics/${e(epic)}/nodes/${e(key)}/tail?step=${e(step)}&attempt=${attempt}&file=${e(file)}&from=${from}`,
};

const route = new Store(parseRoute(location.hash));
addEventListener("hashchange", () => route.set(parseRoute(location.hash)));

export const useRoute = (): Route => useStore(route);
export const currentRoute = (): Route => route.get();

export function go(href: string): void {
  location.hash = href;
}

// note keeps something of what is shown in the address, without another page.
export function note(name: string, value: string): void {
  const at = parseRoute(location.hash);
  if ((at.query.get(name) ?? "") === value) return;
  if (value) at.query.set(name, value);
  else at.query.delete(name);
  const query = at.query.toString();
  history.replaceState(null, "", (at.href.split("?", 1)[0] ?? "#/") + (query ? `?${query}` : ""));
  route.set(parseRoute(location.hash));
}

// settle takes what was asked for once out of the address.
export const settle = (name: string): void => note(name, "");

// above is the page that Escape leads to.
export function above(at: Route): string {
  switch (at.page) {
    case "sprint":
    case "runs":
    case "graph":
    case "time":
    case "plan":
    case "cost":
    case "trust":
    case "journal":
      return to.epic(at.epic);
    default:
      return to.morning;
  }
}

// epicOf is the epic that the page is about, or "".
export const epicOf = (at: Route): string => ("epic" in at ? at.epic : "");
