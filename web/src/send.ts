// The one way to the server. A report has none: src/frozen takes the place of this file.
import { token } from "./token";

// send asks for a path below /api/v1. An error is a server that does not answer.
export function send(path: string, init: RequestInit & { headers: Record<string, string> }): Promise<Response> {
  // The page keeps ETags itself: the browser's cache would hide a 304 from it.
  return fetch(`/api/v1${path}`, { ...init, headers: { ...init.headers, Authorization: `Bearer ${token.get()}` }, cache: "no-store" });
}
