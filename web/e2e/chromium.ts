// The browser: Debian's chromium, or the one that CHROMIUM names.
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

const names = ["chromium", "chromium-headless-shell", "chromium-browser", "google-chrome"];

// chromium is the path of the browser.
export function chromium(): string {
  const named = process.env["CHROMIUM"];
  const dirs = ["/usr/bin", ...(process.env["PATH"] ?? "").split(delimiter).filter(Boolean)];
  const all = named ? [named] : names.flatMap((name) => dirs.map((dir) => join(dir, name)));
  const found = all.find(runs);
  if (!found) throw new Error(`there is no ${named ?? "chromium"}: install it (Debian: apt-get install chromium), or name one with CHROMIUM=/path/to/chromium`);
  return found;
}

function runs(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
