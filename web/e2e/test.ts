// What all tests have: a console that has to stay empty, pictures, and a night that is over.
import { expect, test as base, type Locator, type Page } from "@playwright/test";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { night, type Repo, type UI } from "./ralph.ts";

export { expect };

// Quiet is what the browser said that nobody wants to hear: console messages, errors that
// nobody caught, dialogs.
export class Quiet {
  readonly heard: string[] = [];
  private readonly allowed: RegExp[] = [];

  // allow lets through what the browser itself says about an answer that the test provokes.
  allow(...what: RegExp[]): void {
    this.allowed.push(...what);
  }

  hear(text: string): void {
    if (!this.allowed.some((a) => a.test(text))) this.heard.push(text);
  }
}

// What Chromium says when a server is gone, or refuses: no page can keep it from that.
export const browserSays = {
  gone: /^error: Failed to load resource: net::ERR_(CONNECTION_|INCOMPLETE_|EMPTY_RESPONSE|NETWORK_)/,
  status: (...codes: number[]) => new RegExp(`^error: Failed to load resource: the server responded with a status of (${codes.join("|")}) `),
};

// Night is a run that is over in the morning, and the page about it.
export interface Night {
  repo: Repo;
  ui: UI;
}

interface Fixtures {
  quiet: Quiet;
  keep: (repo: Promise<Repo>) => Promise<Repo>; // until the test ends
}

export const test = base.extend<Fixtures, { morning: Night }>({
  quiet: [
    async ({ context }, use) => {
      const quiet = new Quiet();
      context.on("console", (m) => quiet.hear(`${m.type()}: ${m.text()} ${m.location().url}`));
      context.on("weberror", (e) => quiet.hear(`uncaught: ${e.error().stack ?? e.error().message}`));
      context.on("dialog", (d) => {
        quiet.hear(`dialog: ${d.message()}`);
        void d.dismiss();
      });
      await use(quiet);
      expect(quiet.heard, "the console is empty").toEqual([]);
    },
    { auto: true },
  ],
  keep: async ({ context }, use) => {
    const kept: Repo[] = [];
    await use(async (repo) => {
      const r = await repo;
      kept.push(r);
      return r;
    });
    for (const p of context.pages()) await p.close(); // nobody asks a server that is gone
    for (const r of kept) await r.end();
  },
  morning: [
    async ({}, use) => {
      const repo = await night();
      try {
        await repo.ralph(3, "apply");
        await use({ repo, ui: await repo.ui() });
      } finally {
        await repo.end();
      }
    },
    { scope: "worker", timeout: 120_000 },
  ],
});

const shots = join(dirname(fileURLToPath(import.meta.url)), "shots");

// shoot takes a picture of the whole page.
export async function shoot(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(shots, `${name}.png`), fullPage: true, animations: "disabled" });
}

export const heading = (page: Page): Locator => page.getByRole("heading", { level: 1 });
export const section = (page: Page, name: string): Locator => page.getByRole("region", { name, exact: true });

// epicOf is the page of the only epic: "#/e/…", from the first page.
export async function epicOf(page: Page, title: string): Promise<string> {
  return (await page.getByRole("main").getByRole("link", { name: title }).first().getAttribute("href")) ?? "";
}

// at opens another page of the same document, as a link does.
export async function at(page: Page, ui: UI, place: string): Promise<void> {
  await page.goto(ui.address + place);
}
