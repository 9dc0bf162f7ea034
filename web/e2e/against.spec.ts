// The diff of an attempt, and how it differs from another attempt.
import AxeBuilder from "@axe-core/playwright";
import { at, epicOf, expect, heading, shoot, test } from "./test.ts";

test("two attempts of a sprint are compared", async ({ page, morning: { ui } }) => {
  await page.goto(ui.link);
  await expect(heading(page)).toContainText("wait for you");
  await at(page, ui, `${await epicOf(page, "A shop that can be trusted")}/n/1.2/diff`);
  const against = page.getByLabel("Against");
  await expect(page.locator(".diff summary")).toContainText("out-1.2.txt");
  await expect(against).toHaveCount(0); // the sprint as it stands has nothing else
  await page.getByLabel("Attempt").selectOption("implement #2");
  await expect(against.locator("option")).toHaveText(["what it began with", "the base of implement", "implement #1"]);
  await against.selectOption("the base of implement");
  await expect(page.locator(".l.add").first()).toHaveText("+1.2"); // the first attempt wrote it, too
  await against.selectOption("implement #1");
  await expect(page.locator(".diff")).toContainText("1 file");
  await expect(page.locator(".l.add").filter({ hasText: "TestRefund" }).first()).toBeVisible();
  await expect(page.locator(".l.same").first()).toHaveText(" 1.2"); // both have it
  expect(page.url()).toContain("against=1");
  expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);
  await shoot(page, "against");
  await page.setViewportSize({ width: 480, height: 800 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)).toBeLessThanOrEqual(0);
  await shoot(page, "against-480");
  await page.reload();
  await expect(against).toHaveValue("1");
  await page.getByLabel("Attempt").selectOption("implement #1");
  await expect(against).toHaveValue("");
  await expect(against.locator("option")).toHaveText(["what it began with", "implement #2"]);
});
