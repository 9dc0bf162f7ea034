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
  const found = /^#t=([\w.~-]+)(\/.*)?$/.exec(location.hash);
  if (!found?.[1]) return;
  history.replaceState(null, "", `${location.pathname}#${found[2] ?? "/"}`);
  try {
    localStorage.setItem(kept, found[1]);
  } catch {
    // as above
  }
  token.set(found[1]);
  dispatchEvent(new Event("hashchange")); // replaceState makes none
}

// A link that is opened in one tab revives the others.
export function watchToken(): void {
  addEventListener("hashchange", takeToken);
  addEventListener("storage", (e) => {
    if (e.key === kept && e.newValue) token.set(e.newValue);
  });
}
