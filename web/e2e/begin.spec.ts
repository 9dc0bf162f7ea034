// What the page says before the first run, and what it says of a decision that waits for the next one.
import { night } from "./ralph.ts";
import { at, epicOf, expect, heading, section, shoot, test } from "./test.ts";

const shop = "A shop that can be trusted";

test("before the first run nothing is waited for: the page says how it begins", async ({ page, keep }) => {
  const repo = await keep(night());
  const ui = await repo.ui();
  await page.goto(ui.link);
  await expect(heading(page)).toHaveText("Nothing waits for you, nothing failed");
  const begin = page.getByText(/^To begin: ralph apply/);
  await expect(section(page, "Next").filter({ has: begin })).toContainText(repo.dir);
  await shoot(page, "not-started");
  await at(page, ui, await epicOf(page, shop));
  await expect(heading(page)).toHaveText(shop);
  await expect(begin).toBeVisible();
  await expect(page.getByRole("main")).not.toContainText("nothing moves until");
});

test("what is decided waits no longer, and a claimed name is offered only where one is asked for", async ({ page, keep }) => {
  const repo = await keep(night());
  await repo.ralph(3, "apply");
  const ui = await repo.ui();
  await page.goto(ui.link);
  await expect(heading(page)).toHaveText("2 wait for you, 1 failed");
  const epic = await epicOf(page, shop);
  await at(page, ui, epic);
  const all = section(page, "All sprints and the integration").getByRole("listitem");
  await expect(all.filter({ hasText: "Sign-in" })).toContainText(/for \d+[sm]/);
  await expect(all.filter({ hasText: "Prices" })).toContainText("cost unknown");
  await expect(section(page, "Runs of ralph apply")).toContainText("1 failed"); // as everywhere on the page
  await at(page, ui, `${epic}/n/2.1/now?do=reject`);
  const form = page.getByRole("form", { name: "Reject" });
  await form.locator("textarea").fill("no second factor");
  await form.locator("input[name=as]").fill("ada");
  await form.getByRole("button", { name: /^Send: reject/ }).click();
  const taken = page.getByRole("status").filter({ hasText: "Decided" });
  await expect(taken.locator("code", { hasText: "ralph apply" })).toHaveCount(1);
  await expect(taken).not.toContainText("nothing runs now"); // it is said once
  await expect(page.getByRole("main")).toContainText("goes on");
  await expect(page.getByRole("main")).not.toContainText("waiting for");

  await at(page, ui, `${epic}/n/2.2/now?do=reject`);
  await expect(form.locator("input[name=as]")).toHaveValue("ada"); // only she may
  await at(page, ui, `${epic}/n/1.2/now?do=retry`);
  const retry = page.getByRole("form", { name: "Retry" });
  await expect(retry.locator("input[name=as]")).toHaveValue("");
  await retry.getByRole("button", { name: /^Send: retry/ }).click();
  await expect(taken).toContainText("1.2");
  await at(page, ui, "#/");
  await expect(page.getByText("2 go on").first()).toBeVisible();
});
