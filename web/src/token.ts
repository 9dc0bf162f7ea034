// The token that lets the page in. `ralph ui` prints it in the fragment of its link; it is
// kept by origin, which is one port of this machine, and sent with every request.
import { Store } from "./store";

const kept = "ralph.token";

export const token = new Store(read());

function read(): string {
  try {
    return localStorage.getItem(kept) ?? "";
  } catch {
    return ""; // storage is turned off: the token lasts as long as this tab
  }
}

// takeToken moves the token out of the address, where it would be copied with it. What
// follows it in the address is the page to open.
export function takeToken(): void {
  const found = /^#([to])=([\w.~-]+)(\/.*)?$/.exec(location.hash);
  if (!found?.[2]) return;
  history.replaceState(null, "", `${location.pathname}#${found[3] ?? "/"}`);
  if (found[1] === "t") keep(found[2]);
  else void exchange(found[2]);
  dispatchEvent(new Event("hashchange")); // replaceState makes none
}

function keep(value: string): void {
  try {
    localStorage.setItem(kept, value);
  } catch {
    // as above
  }
  token.set(value);
}

// exchange gets the token for the code of the link that ralph ui opened itself. If that was
// used, the page asks for the printed link.
async function exchange(code: string): Promise<void> {
  const answer = await fetch("/api/v1/open", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ code }) }).catch(() => undefined);
  if (!answer?.ok) return;
  const said = (await answer.json()) as { token?: unknown };
  if (typeof said.token === "string") keep(said.token);
}

// A link that is opened in one tab revives the others.
export function watchToken(): void {
  addEventListener("hashchange", takeToken);
  addEventListener("storage", (e) => {
    if (e.key === kept && e.newValue) token.set(e.newValue);
  });
}
