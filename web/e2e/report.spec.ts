// A report: the page, frozen, opened from disk.
import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, heading, shoot, test, type Night } from "./test.ts";

const title = "A shop that can be trusted";

// written writes a report, and returns its address.
async function written({ repo }: Night, name: string, ...args: string[]): Promise<string> {
  const file = join(repo.top, name);
  await repo.ralph(0, "report", "-o", file, ...args);
  return pathToFileURL(file).href;
}

// reach opens a place of a report: another fragment alone loads nothing anew.
async function reach(page: Page, href: string): Promise<void> {
  await page.evaluate((h) => (location.hash = h), href);
}

test("a report opens from disk and has every page", async ({ page, morning }) => {
  const address = await written(morning, "night.html", "--with", "prompts,logs,diffs");
  const asked: string[] = [];
  page.on("request", (r) => asked.push(r.url()));
  await page.goto(address);
  await expect(heading(page)).toContainText("wait for you");
  await expect(page.getByText(/^A report of \d{4}-\d\d-\d\d/)).toBeVisible();
  await expect(page.getByText("FAIL TestRefund").first()).toBeVisible();
  await shoot(page, "report");
  await page.getByRole("navigation", { name: "Pages", exact: true }).getByRole("link", { name: "Morning" }).focus();
  const epic = (await page.getByRole("link", { name: title }).first().getAttribute("href")) ?? "";
  const places: [string, string | RegExp][] = [
    ["#/inbox", "Sign-in"],
    [epic, "git merge ralph/plan/integration"],
    [`${epic}/graph`, /^next failed/],
    [`${epic}/time`, "integration"],
    [`${epic}/runs`, "1.2 implement #2"],
    [`${epic}/plan`, "Phase 1: Foundation"],
    [`${epic}/cost`, "By sprint"],
    [`${epic}/trust`, "How agents are confined"],
    [`${epic}/log`, "apply ended"],
    [`${epic}/n/2.1/now`, "out-2.1.txt"],
    [`${epic}/n/1.2/attempts`, "implement #2"],
    [`${epic}/n/1.2/diff`, "out-1.2.txt"],
    [`${epic}/n/2.1/log`, "<script>alert(1)</script>"],
    [`${epic}/n/2.1/prompt`, "sign in with a password"],
    [`${epic}/n/2.1/why`, "because of"],
  ];
  for (const [href, says] of places) {
    await reach(page, href);
    await expect(page.getByRole("main").getByText(says).first(), href).toBeVisible();
    await expect(page.getByText("not in the report"), href).toHaveCount(0);
    const found = await new AxeBuilder({ page }).withTags(["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"]).analyze();
    expect(found.violations.map((v) => `${href} ${v.id}`)).toEqual([]);
  }
  expect(asked.filter((u) => u !== address && !u.startsWith("data:"))).toEqual([]);
});

test("a report decides nothing, and has no texts that nobody asked for", async ({ page, morning }) => {
  await page.goto(await written(morning, "short.html"));
  await expect(heading(page)).toContainText("wait for you");
  const epic = (await page.getByRole("link", { name: title }).first().getAttribute("href")) ?? "";
  await reach(page, `${epic}/n/2.1/now`);
  await expect(page.getByText("This is a report.")).toBeVisible();
  await page.keyboard.press("a");
  await expect(page.getByRole("form")).toHaveCount(0);
  await page.getByText("What can be decided at a terminal").click();
  await expect(page.getByText(/ralph approve 2\.1/).first()).toBeVisible();
  for (const tab of ["diff", "log", "prompt"]) {
    await reach(page, `${epic}/n/2.1/${tab}`);
    await expect(page.getByText("not in the report").first(), tab).toBeVisible();
  }
  await expect(page.getByText("sign in with a password")).toHaveCount(0);
});

test("a report says what matters without script", async ({ browser, morning }) => {
  const context = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 480, height: 800 } });
  const page = await context.newPage();
  await page.goto(await written(morning, "plain.html"));
  await expect(page.getByRole("heading", { name: "Waits for a person" })).toBeVisible();
  const main = page.locator("main.fallback"); // getByText looks into no noscript
  await expect(main).toContainText("ralph approve 2.1");
  await expect(main).toContainText("FAIL TestRefund: got 0, want 12.50");
  await expect(page.getByRole("row").filter({ hasText: "Orders" })).toContainText("pending");
  await shoot(page, "report-plain");
  await context.close();
});
