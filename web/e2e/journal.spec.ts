// The journal of an epic, and those of its events that are of a kind.
import AxeBuilder from "@axe-core/playwright";
import { at, epicOf, expect, heading, shoot, test } from "./test.ts";

test("the journal is filtered by kind, and the address keeps it", async ({ page, morning: { ui } }) => {
  await page.goto(ui.link);
  await expect(heading(page)).toContainText("wait for you");
  await at(page, ui, `${await epicOf(page, "A shop that can be trusted")}/log`);
  const events = page.locator(".journal li");
  await expect(events.filter({ hasText: "apply ended" })).toHaveCount(1);
  const all = await events.count();
  const kinds = page.getByLabel("Events");
  const option = await kinds.locator("option", { hasText: "gate.judged" }).innerText();
  const judged = Number(/\((\d+)\)/.exec(option)?.[1]);
  await kinds.selectOption("gate.judged");
  await expect(events).toHaveCount(judged);
  expect(judged).toBeLessThan(all);
  for (const line of await events.all()) await expect(line).toContainText("gate");
  expect(page.url()).toContain("kind=gate.judged");
  expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);
  await shoot(page, "journal-kind");
  await page.setViewportSize({ width: 480, height: 800 });
  await shoot(page, "journal-kind-480");
  await page.reload();
  await expect(events).toHaveCount(judged);
  await kinds.selectOption("of all kinds");
  await expect(events).toHaveCount(all);
});
