// Every page: light, dark and narrow; what axe finds; and its picture.
import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { at, epicOf, expect, heading, shoot, test, type Night } from "./test.ts";

interface Place {
  name: string;
  path: string;
  ready: (page: Page) => Promise<void>;
}

const title = "A shop that can be trusted";

// open opens the first page, and returns all places there are.
async function open(page: Page, { ui }: Night): Promise<Place[]> {
  await page.goto(ui.link);
  await expect(heading(page)).toContainText("wait for you");
  const epic = await epicOf(page, title);
  const headed = (text: string | RegExp) => async (p: Page) => expect(heading(p)).toHaveText(text);
  const shows = (text: string | RegExp) => async (p: Page) => expect(p.getByRole("main").getByText(text).first()).toBeVisible();
  const places: Place[] = [
    { name: "morning", path: "#/", ready: shows("FAIL TestRefund") },
    { name: "inbox", path: "#/inbox", ready: shows("Sign-in") },
    { name: "epic", path: epic, ready: shows("All sprints") },
    { name: "graph", path: `${epic}/graph`, ready: shows(/^next failed/) },
    { name: "runs-chosen", path: `${epic}/runs?run=1.2%2Fimplement%2F2`, ready: async (p) => expect(p.getByRole("region", { name: "1.2 implement #2" })).toContainText("FAIL TestRefund") },
    { name: "waiting", path: `${epic}/n/2.1/now`, ready: shows("out-2.1.txt") },
    { name: "approve", path: `${epic}/n/2.1/now?do=approve`, ready: async (p) => expect(p.getByRole("form")).toBeVisible() },
    { name: "failed", path: `${epic}/n/1.2/now`, ready: shows("FAIL TestRefund") },
    { name: "retry", path: `${epic}/n/1.2/now?do=retry`, ready: async (p) => expect(p.getByRole("form")).toBeVisible() },
    { name: "attempts", path: `${epic}/n/1.2/attempts`, ready: shows("implement #2") },
    { name: "diff", path: `${epic}/n/1.2/diff`, ready: shows("out-1.2.txt") },
    { name: "log", path: `${epic}/n/2.1/log`, ready: shows("<script>alert(1)</script>") },
    { name: "prompt", path: `${epic}/n/2.1/prompt`, ready: shows("sign in with a password") },
    { name: "why", path: `${epic}/n/2.1/why`, ready: async (p) => expect(p.getByRole("table")).toBeVisible() },
    { name: "unknown", path: "#/nowhere", ready: headed("There is no such page") },
    { name: "find", path: epic, ready: dialog("/") },
    { name: "help", path: "#/", ready: dialog("?") },
  ];
  await at(page, ui, epic);
  const tabs = page.getByRole("navigation", { name: "Of this epic" }).getByRole("link");
  await expect(tabs.filter({ hasText: "Journal" })).toBeVisible();
  for (const tab of await tabs.all()) {
    const path = (await tab.getAttribute("href")) ?? "";
    if (path !== epic) places.push({ name: (await tab.innerText()).toLowerCase(), path, ready: settled });
  }
  return places;
}

// settled waits until a page shows what it has asked for.
async function settled(page: Page): Promise<void> {
  await expect(heading(page)).toBeVisible();
  await expect(page.locator("main > :not(h1, nav)").first()).toBeVisible();
  await expect(page.getByRole("main").getByText("is being read")).toHaveCount(0);
}

function dialog(key: string): (page: Page) => Promise<void> {
  return async (page) => {
    await expect(page.getByRole("main").getByText("Sign-in").first()).toBeVisible();
    await page.keyboard.press(key);
    await expect(page.getByRole("dialog").or(page.locator("#find:focus"))).toBeVisible();
  };
}

// leave shuts what was opened, for the next place.
async function leave(page: Page): Promise<void> {
  const open = page.getByRole("dialog");
  if (await open.count()) await page.keyboard.press("Escape");
  await expect(open).toHaveCount(0);
}

// Dark differs in its colours alone: the rest is found in the light.
const axe = {
  light: (page: Page) => new AxeBuilder({ page }).withTags(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]),
  dark: (page: Page) => new AxeBuilder({ page }).withRules(["color-contrast", "link-in-text-block"]),
};

for (const scheme of ["light", "dark"] as const) {
  test(`axe finds nothing on any page, ${scheme}`, async ({ page, morning }) => {
    test.setTimeout(300_000); // some thirty pages
    await page.emulateMedia({ colorScheme: scheme });
    for (const place of await open(page, morning)) {
      await test.step(place.name, async () => {
        await at(page, morning.ui, place.path);
        await place.ready(page);
        const { violations } = await axe[scheme](page).analyze();
        const found = violations.map((v) => `${v.id}: ${v.help}: ${v.nodes.map((n) => `${n.html} ${n.failureSummary}`).join("\n")}`);
        expect.soft(found, `axe on ${place.name}, ${scheme}`).toEqual([]);
        await shoot(page, `${place.name}-${scheme}`);
        await leave(page);
      });
    }
  });
}

test("480 pixels: nothing scrolls sideways, and a finger can hit the buttons", async ({ page, morning }) => {
  await page.setViewportSize({ width: 480, height: 800 });
  for (const place of await open(page, morning)) {
    await test.step(place.name, async () => {
      await at(page, morning.ui, place.path);
      await place.ready(page);
      const wide = await page.evaluate(() => ({ scroll: document.documentElement.scrollWidth, client: document.documentElement.clientWidth }));
      expect.soft(wide.scroll, `width of ${place.name}`).toBeLessThanOrEqual(wide.client);
      const low = await page.locator("button:visible, nav a:visible, a.act:visible, summary:visible, select:visible").evaluateAll((all) =>
        all.map((b) => ({ text: b.textContent, high: b.getBoundingClientRect().height })).filter((b) => b.high < 43.5),
      );
      expect.soft(low, `too low on ${place.name}`).toEqual([]);
      await shoot(page, `${place.name}-480`);
      await leave(page);
    });
  }
});

test("480 pixels: Why breaks no word, and the keys are at hand", async ({ page, morning: { ui } }) => {
  await page.setViewportSize({ width: 480, height: 800 });
  await page.goto(ui.link);
  await expect(heading(page)).toContainText("wait for you");
  await at(page, ui, `${await epicOf(page, title)}/n/2.1/why`);
  await expect(page.getByRole("table")).toContainText("steps.implement.gates.sign-off.timeout_ms");
  const broken = await page.getByRole("table").evaluate((table) => {
    const out: string[] = [];
    const texts = document.createTreeWalker(table, NodeFilter.SHOW_TEXT);
    for (let n = texts.nextNode(); n; n = texts.nextNode()) {
      for (const word of (n.textContent ?? "").matchAll(/[^\s./_-]+/g)) {
        const range = document.createRange();
        range.setStart(n, word.index);
        range.setEnd(n, word.index + word[0].length);
        if (new Set([...range.getClientRects()].map((r) => r.top)).size > 1) out.push(word[0]);
      }
    }
    return out;
  });
  expect(broken).toEqual([]);
  await page.getByRole("button", { name: "Keys", exact: true }).click();
  await expect(page.getByRole("dialog", { name: "Keys" })).toBeVisible();
});
