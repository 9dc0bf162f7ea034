// The graph of more sprints than anybody looks through.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { night } from "./ralph.ts";
import { at, epicOf, expect, heading, shoot, test } from "./test.ts";

const phases = 4;
const each = 80;

// plan is four phases of 80 sprints. In each phase 40 of them need one another in a row; the
// first of a phase needs the last of the row before it, and 3.7 is only related to 1.5.
function plan(): string {
  let text = "# A year of work\n";
  for (let p = 1; p <= phases; p++) {
    text += `\n## Phase ${p}: Quarter ${p}\n`;
    for (let s = 1; s <= each; s++) {
      text += `\n### Sprint ${p}.${s}: Part ${s} of quarter ${p}\n`;
      const before = s > 1 && s <= 40 ? `${p}.${s - 1}` : s === 1 && p > 1 ? `${p - 1}.40` : "none";
      text += `\n**Depends on**: ${before}\n`;
      if (p === 3 && s === 7) text += "**Related**: 1.5\n";
      text += "\n**Tasks**:\n- [ ] do it\n";
    }
  }
  return text;
}

test("320 sprints: search, two steps around, the critical path, phases, soft edges", async ({ page, keep }) => {
  const repo = await keep(night((dir) => writeFileSync(join(dir, "plan.md"), plan())));
  const ui = await repo.ui();
  await page.goto(ui.link);
  await expect(heading(page)).toContainText("Nothing waits");
  await at(page, ui, `${await epicOf(page, "A year of work")}/graph`);
  const list = page.locator(".graphlist");
  const rows = list.locator("li:not(.phase)");
  const picture = page.locator(".react-flow__node");

  // Phases are shut, in the list and in the picture.
  await expect(list.getByRole("button", { expanded: false })).toHaveCount(phases);
  await expect(rows).toHaveCount(0);
  await expect(picture).toHaveCount(phases);
  await list.getByRole("button", { name: /Quarter 2/ }).focus();
  await page.keyboard.press("Enter");
  await expect(rows).toHaveCount(each);
  await page.keyboard.press("Enter");
  await expect(rows).toHaveCount(0);

  // A sprint is found by its key; its phase opens, and it says what it has to do with others.
  await page.keyboard.press("/");
  await page.keyboard.type("3.7");
  await expect(rows).toHaveCount(11); // and 3.70 to 3.79
  await page.keyboard.press("Enter");
  const about = list.locator(".about");
  await expect(about).toContainText(/needs.*3\.6.*needed by.*3\.8.*related to.*1\.5/s);
  await expect(picture.filter({ hasText: "Part 7 of quarter 3" })).toBeVisible();
  expect(await page.locator(".lines path.own.soft").getAttribute("d")).toBeTruthy();
  expect(await page.locator(".lines path.soft").first().evaluate((p) => getComputedStyle(p).strokeDasharray)).not.toBe("none");
  await page.getByRole("searchbox", { name: "Find a sprint" }).fill("");

  // Only these, and what is two steps away.
  await about.getByRole("button", { name: "only two steps around" }).click();
  await expect(rows.locator(".key").first()).toBeVisible();
  const near = ["1.5", "3.5", "3.6", "3.7", "3.8", "3.9"];
  for (const key of near) await expect(list.locator("li a, li .title").filter({ hasText: key.replace(/^(\d)\.(\d)$/, "Part $2 of quarter $1") }).first()).toBeVisible();
  await expect(list.getByText("Part 11 of quarter 3")).toHaveCount(0);
  await shoot(page, "graph-two-steps");
  await page.getByRole("button", { name: "show all" }).click();

  // The critical path: one row through all phases.
  await page.getByRole("button", { name: /^critical path/ }).click();
  await expect(page.getByRole("button", { name: /^critical path/ })).toHaveAttribute("aria-pressed", "true");
  expect(await page.locator(".lines path.main").getAttribute("d")).toBeTruthy();
  await list.getByRole("combobox", { name: "Show" }).selectOption("critical path");
  await expect(rows).toHaveCount(phases * 40);
  await expect(list.getByText("Part 41 of quarter 1")).toHaveCount(0);
  await shoot(page, "graph-critical");

  // Without the picture, at 60 columns, the list does the same.
  await page.setViewportSize({ width: 480, height: 800 });
  await page.reload();
  await expect(page.getByRole("button", { name: "show the picture" })).toBeVisible();
  await expect(picture).toHaveCount(0);
  await page.getByRole("searchbox", { name: "Find a sprint" }).fill("4.2");
  await page.keyboard.press("Enter");
  await expect(list.locator(".about").first()).toContainText(/needs.*4\.1.*needed by.*4\.3/s);
  expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)).toBeLessThanOrEqual(0);
});
