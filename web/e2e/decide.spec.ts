// Decisions: by keyboard, by mouse, in two tabs, while apply is at work and without.
import type { Page } from "@playwright/test";
import { demo, night } from "./ralph.ts";
import { at, epicOf, expect, heading, section, shoot, test } from "./test.ts";

const shop = "A shop that can be trusted";

// The plan of make demo, with apply at work, from the first look to the end.
test("approve by keyboard, reject by mouse, see the run end", async ({ page, keep }) => {
  test.setTimeout(240_000);
  const repo = await keep(demo());
  const apply = repo.start("apply", "--wait");
  const ui = await repo.ui();
  let loads = 0;
  page.on("load", () => loads++);
  await page.goto(ui.link);

  await test.step("approve 1.1 by keyboard", async () => {
    await expect(section(page, "Waits for you").getByRole("link", { name: /1\.1.*Keep links/ })).toBeVisible({ timeout: 60_000 });
    await byKeyboard(page);
  });

  await test.step("reject 1.3 by mouse", async () => {
    await expect(section(page, "Waits for you").getByRole("link", { name: /1\.3.*One service/ })).toBeVisible({ timeout: 120_000 });
    await section(page, "Waits for you").getByRole("listitem").filter({ hasText: "One service" }).getByRole("link", { name: /^reject/ }).click();
    await expect(page.getByRole("main")).toContainText("README.md"); // the change is on the same screen
    const form = page.getByRole("form", { name: "Reject" });
    await form.getByRole("textbox", { name: /what has to change/i }).fill("say in the README what a link is");
    await shoot(page, "reject");
    await form.getByRole("button", { name: /^Send: reject/ }).click();
    await expect(form).toHaveCount(0);
    await page.getByRole("link", { name: /^Attempts/ }).click();
    const second = page.getByRole("article", { name: "implement #2" });
    await expect(second).toContainText(/waiting: approval/, { timeout: 60_000 });
    await expect(second).toContainText("say in the README what a link is");
  });

  await test.step("approve the next attempt, and see the end", async () => {
    await page.getByRole("link", { name: "Now", exact: true }).click();
    await expect(page.getByRole("main")).toContainText("Verdicts on implement #2"); // what is approved is what is shown
    await page.getByRole("button", { name: /^Approve/ }).click();
    const send = page.getByRole("button", { name: /^Send: approve/ });
    await expect(send).toBeEnabled();
    await send.click();
    await page.getByRole("link", { name: "Morning" }).first().click();
    await expect(page.getByText("5 of 5 done").first()).toBeVisible({ timeout: 120_000 });
    await expect(heading(page)).toHaveText("Nothing waits for you, nothing failed");
    expect(await apply.over).toBe(0);
    await expect(page.getByRole("main").getByText("ended").first()).toBeVisible();
    await shoot(page, "ended");
  });
  expect(loads, "the page was loaded once").toBe(1);
});

// byKeyboard approves what waits, with the keyboard alone, from the first page.
async function byKeyboard(page: Page): Promise<void> {
  const row = section(page, "Waits for you").getByRole("link", { name: /1\.1.*Keep links/ });
  for (let i = 0; i < 3 && !(await row.evaluate((r) => r === document.activeElement)); i++) await page.keyboard.press("n");
  await expect(row).toBeFocused();
  await page.keyboard.press("a");
  const form = page.getByRole("form", { name: "Approve" });
  await expect(form.getByRole("button", { name: /^Send: approve/ })).toBeEnabled(); // the change is shown
  await expect(page.getByRole("main")).toContainText("put_test.go");
  await shoot(page, "approve-demo");
  await expect(form.locator("input[name=as]")).toBeFocused();
  await page.keyboard.type("ada");
  await page.keyboard.press("Control+Enter");
  await expect(form).toHaveCount(0);
  await expect(page.getByRole("status").filter({ hasText: /Decided|Sent/ })).toBeVisible();
  await expect(page.getByRole("main").getByText("done", { exact: true }).first()).toBeVisible();
  await page.keyboard.press("g");
  await page.keyboard.press("m");
  await expect(heading(page)).not.toHaveText("1 waits for you");
  await expect(page.getByText(/[1-5] of 5 done/).first()).toBeVisible();
}

test("a decision in one tab is told in the other at once, where what was typed stays", async ({ context, page, keep }) => {
  const repo = await keep(night());
  await repo.ralph(3, "apply");
  const ui = await repo.ui();
  await page.goto(ui.link);
  await expect(heading(page)).toHaveText("2 wait for you, 1 failed");
  const epic = await epicOf(page, shop);
  const other = await context.newPage();
  await other.goto(`${ui.address}${epic}/n/2.1/now`);
  await other.getByRole("button", { name: /^Reject/ }).click();
  const stale = other.getByRole("form", { name: "Reject" });
  await stale.locator("textarea").fill("no second factor");
  await stale.locator("input[name=as]").fill("ada");

  await at(page, ui, `${epic}/n/2.1/now?do=reject`);
  const form = page.getByRole("form", { name: "Reject" });
  await form.locator("textarea").fill("no rate limit");
  await form.locator("input[name=as]").fill("ada");
  await form.getByRole("button", { name: /^Send: reject/ }).click();
  const taken = page.getByRole("status").filter({ hasText: "Decided" });
  await expect(taken).toContainText("ada");
  await expect(taken).toContainText("ralph apply"); // no apply is at work: what goes on

  await expect(other.getByText("no rate limit").first()).toBeVisible(); // by itself
  await expect(stale.getByRole("alert").filter({ hasText: "this can no longer be decided" })).toContainText("rejected by ada"); // nothing was sent
  const send = stale.getByRole("button", { name: /^Send: reject/ });
  await expect(send).toBeDisabled();
  await expect(stale.locator("textarea")).toHaveValue("no second factor");
  await other.bringToFront();
  await stale.locator("textarea").focus();
  await other.keyboard.press("Control+Enter"); // neither is it now: the console would say 409

  await repo.ralph(3, "apply"); // now it waits again, with another result
  await expect(other.getByText("implement #2").first()).toBeVisible();
  await expect(stale.getByRole("alert").filter({ hasText: "It has changed since it was shown" })).toBeVisible();
  await expect(stale.locator("textarea")).toHaveValue("no second factor");
  await expect(send).toBeDisabled();
  await shoot(other, "stale");
  await expect(stale.locator("textarea")).toBeFocused(); // who types is not disturbed
  await stale.getByRole("button", { name: /^I have looked/ }).click();
  await expect(stale.locator("input[name=as]")).toHaveValue("ada");
  await send.click();
  await expect(other.getByRole("status").filter({ hasText: "Decided" })).toBeVisible();
  await at(other, ui, "#/inbox");
  await expect(other.getByRole("main").getByRole("link", { name: /2\.2.*Terms of sale/ })).toBeVisible();
  await expect(other.getByRole("main").getByRole("link", { name: /2\.1.*Sign-in/ })).toHaveCount(0);
  expect(await repo.ralph(0, "show", "2.1")).toContain("no rate limit");
});

test("what only another person may decide is not sent in one's own name, and nothing is lost", async ({ page, keep }) => {
  const repo = await keep(night());
  await repo.ralph(3, "apply");
  const ui = await repo.ui();
  await page.goto(ui.link);
  await expect(heading(page)).toHaveText("2 wait for you, 1 failed");
  await at(page, ui, `${await epicOf(page, shop)}/n/2.2/now?do=reject`);
  const form = page.getByRole("form", { name: "Reject" });
  await form.locator("textarea").fill("the terms are too long");
  const as = form.locator("input[name=as]");
  const send = form.getByRole("button", { name: /^Send: reject/ });
  for (const name of ["", "bob"]) {
    await as.fill(name);
    await send.click(); // the console would say 409 or 422
    await expect(form.getByRole("alert")).toHaveText(/Only ada may/);
    await expect(as).toBeFocused();
  }
  await expect(form.locator("textarea")).toHaveValue("the terms are too long");
  await as.fill("Ada"); // as the server compares
  await expect(form.getByRole("alert")).toHaveCount(0);
  await send.click();
  await expect(page.getByRole("status").filter({ hasText: "Decided" })).toContainText("Ada");
});
