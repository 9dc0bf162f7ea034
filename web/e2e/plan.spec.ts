// The plan on the page: its approval, what the run makes of it, and how a sprint of it is edited.
import { join } from "node:path";
import { edit, night } from "./ralph.ts";
import { at, epicOf, expect, section, test } from "./test.ts";

test("a plan is approved on the page, and what was approved runs", async ({ page, keep }) => {
  const repo = await keep(night((dir) => edit(join(dir, "ralph.hcl"), (text) => `${text}hitl {\n  plan      = "required"\n  approvers = ["ada"]\n}\n`)));
  expect((await repo.status()).run.plan_approved).toBe(false);
  await repo.ralph(4, "apply"); // nothing starts
  const ui = await repo.ui();
  await page.goto(ui.link);
  await at(page, ui, await epicOf(page, "A shop that can be trusted"));
  await page.getByRole("button", { name: "Approve the plan" }).click();
  const form = page.getByRole("form", { name: "Approve the plan" });
  await form.locator("input[name=as]").fill("ada");
  await form.getByRole("button", { name: /^Send: approve the plan/ }).click();
  const taken = page.getByRole("status").filter({ hasText: "Decided" });
  await expect(taken).toContainText("ralph apply"); // no apply is at work: what goes on
  expect((await repo.status()).run.plan_approved).toBe(true);
  await expect(page.getByRole("button", { name: "Approve the plan" })).toHaveCount(0); // the page knows it
  await expect(taken).toContainText("ralph apply");
  await repo.ralph(3, "apply");
  const events = await repo.events();
  const approved = events.filter((e) => e.kind === "decided" && e.data.verb === "approve");
  expect(approved).toHaveLength(1);
  expect(events.filter((e) => e.kind === "attempt.started" && e.seq < (approved[0]?.seq ?? 0))).toEqual([]);
  await page.goto(`${ui.address}#/`);
  await expect(section(page, "Waits for you")).toContainText("Sign-in");
});

test("beside each sprint that is not over stands what opens it in an editor", async ({ page, morning: { ui } }) => {
  await page.goto(ui.link);
  await at(page, ui, `${await epicOf(page, "A shop that can be trusted")}/plan`);
  const beside = (sprint: string) => page.locator(".mark").filter({ hasText: sprint });
  await expect(beside("2.1")).toContainText("ralph show 2.1 --open");
  await expect(beside("2.1").getByRole("button", { name: "copy ralph show 2.1 --open" })).toBeVisible();
  await expect(beside("1.1")).toContainText("done");
  await expect(beside("1.1").getByRole("button")).toHaveCount(0);
});
