// Requests to /api/v1.
import type { Decide, Decided, Fault } from "./api";
import { refused } from "./live";
import { reveal } from "./reveal";
import { send } from "./send";
import { token } from "./token";

// Failure is a request that was not granted, or a server that did not answer: status 0.
export class Failure extends Error {
  constructor(
    readonly status: number,
    readonly fault: Fault,
  ) {
    super(fault.error);
  }
}

const away: Fault = { error: "ralph ui does not answer", hint: "is it still running?", reason: "broken" };

export interface Answer {
  text: string;
  etag: string;
  fresh: boolean; // false: 304, text is ""
}

// get asks for a path below /api/v1.
export async function get(path: string, etag: string, stop: AbortSignal | null = null): Promise<Answer> {
  const answer = await ask(path, { headers: etag ? { "If-None-Match": etag } : {}, signal: stop });
  if (answer.status === 304) return { text: "", etag, fresh: false };
  if (!answer.ok) throw await failure(answer);
  return { text: await answer.text(), etag: answer.headers.get("ETag") ?? "", fresh: true };
}

// Piece is a part of a file, by its bytes.
export interface Piece {
  bytes: Uint8Array;
  from: number;
  size: number; // of the whole file
}

// getPiece asks for the bytes of a file from from to to (exclusive).
export async function getPiece(path: string, from: number, to: number): Promise<Piece> {
  const answer = await ask(path, { headers: { Range: `bytes=${from}-${to - 1}` } });
  if (answer.status === 416) return { bytes: new Uint8Array(), from, size: from };
  if (!answer.ok) throw await failure(answer);
  const bytes = new Uint8Array(await answer.arrayBuffer());
  const range = /^bytes (\d+)-\d+\/(\d+)$/.exec(answer.headers.get("Content-Range") ?? "");
  return range ? { bytes, from: Number(range[1]), size: Number(range[2]) } : { bytes, from: 0, size: bytes.length };
}

// decide sends a decision about a sprint, or with the key "" about the whole run.
export async function decide(epic: string, key: string, body: Decide): Promise<Decided> {
  const path = key ? `/epics/${encodeURIComponent(epic)}/nodes/${encodeURIComponent(key)}/decisions` : `/epics/${encodeURIComponent(epic)}/decisions`;
  const answer = await ask(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw await failure(answer);
  return parse<Decided>(await answer.text());
}

async function ask(path: string, init: RequestInit & { headers: Record<string, string> }): Promise<Response> {
  const used = token.get();
  let answer: Response;
  try {
    answer = await send(path, init);
  } catch {
    throw new Failure(0, away);
  }
  if (answer.status === 401) refused.set(used);
  else if ((answer.ok || answer.status === 304) && refused.get() === used) refused.set("");
  return answer;
}

async function failure(answer: Response): Promise<Failure> {
  const text = await answer.text().catch(() => "");
  try {
    const fault = parse<Partial<Fault>>(text);
    if (fault.error) return new Failure(answer.status, { reason: "broken", ...fault, error: fault.error });
  } catch {
    // no JSON: what it says, as text
  }
  return new Failure(answer.status, { error: reveal(text.slice(0, 500)) || `the server answered ${answer.status}`, reason: "broken" });
}

const raw = /[\u0080-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff9-\ufffb]|\udb40|\ud804|\ud80d|\ud82f|\ud834|\\(?:[bfr]|u(?!003[ce]|0026))/;

// parse reads JSON in which everything that would not show is made visible.
export function parse<T>(text: string): T {
  if (!raw.test(text)) return JSON.parse(text) as T;
  return JSON.parse(text, (_, value: unknown) => (typeof value === "string" ? reveal(value) : value)) as T;
}
