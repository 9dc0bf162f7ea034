// Finding a text in a log that is longer than what the page holds of it.
import AxeBuilder from "@axe-core/playwright";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { night } from "./ralph.ts";
import { at, epicOf, expect, heading, shoot, test } from "./test.ts";

// 200,000 lines, of which every 1,000th has what is looked for, with a colour within.
const talking = `echo "$RALPH_NODE" > "out-$RALPH_NODE.txt"
[ "$RALPH_NODE" = "1.1" ] || exit 0
awk 'BEGIN { for (i = 1; i <= 200000; i++) if (i % 1000) print "line " i " of what an agent may say"; else print "line " i " \\033[31mFAIL\\033[0m: Refund <b>" i "</b>" }'
`;

test("a text is found in all of a long log, and the keys go from hit to hit", async ({ page, keep }) => {
  const repo = await keep(night((dir) => writeFileSync(join(dir, "agent.sh"), talking)));
  await repo.ralph(3, "apply");
  const ui = await repo.ui();
  await page.goto(ui.link);
  await expect(heading(page)).toContainText("wait for you");
  await at(page, ui, `${await epicOf(page, "A shop that can be trusted")}/n/1.1/log`);
  const log = page.getByRole("region", { name: /^Log/ });
  await expect(log).toContainText("line 200000 FAIL: Refund");
  await expect(log).not.toContainText("line 1000 ");
  await page.keyboard.press("f");
  const box = page.getByRole("searchbox", { name: "Find in this log" });
  await expect(box).toBeFocused();
  await page.keyboard.type("fail: refund");
  const count = page.getByRole("search", { name: "In this log" }).getByRole("status");
  await expect(count).toHaveText("1 of 200");
  const hit = page.locator("mark[aria-current]");
  const shows = async (line: number) => {
    await expect(hit).toHaveText("FAIL: Refund");
    await expect(log.locator(".l").filter({ has: hit })).toHaveText(`line ${line} FAIL: Refund <b>${line}</b>`);
    await expect(log.locator(".l").filter({ has: hit })).toHaveAttribute("data-is", `${line}`);
    await expect(hit).toBeInViewport();
  };
  await shows(1000); // far before what the page held
  await page.keyboard.press("Enter");
  await expect(count).toHaveText("2 of 200");
  await shows(2000);
  await page.keyboard.press("Shift+Enter");
  await page.keyboard.press("Shift+Enter");
  await expect(count).toHaveText("200 of 200"); // round the end
  await shows(200_000);
  await log.focus();
  for (let i = 0; i < 3; i++) await page.keyboard.press("N");
  await expect(count).toHaveText("197 of 200");
  await shows(197_000);
  await page.keyboard.press("n");
  await shows(198_000);
  for (let i = 0; i < 3; i++) await page.keyboard.press("n");
  await expect(count).toHaveText("1 of 200");
  await shows(1000);
  await page.getByRole("button", { name: /behind this/ }).click();
  await expect(log).toContainText("line 5000 FAIL");
  await page.keyboard.press("n");
  await shows(2000);
  await shoot(page, "find-long");
  await page.setViewportSize({ width: 480, height: 800 });
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  expect(wide).toBeLessThanOrEqual(0);
  await shoot(page, "find-long-480");
  await box.fill("no such text");
  await expect(count).toHaveText("not found");
  await box.press("Escape");
  await expect(box).toHaveValue("");
  await expect(log).toContainText("line 200000 FAIL: Refund"); // its end again
  expect(page.url()).toContain("/n/1.1/log"); // it has not gone to the page above
});

for (const scheme of ["light", "dark"] as const) {
  test(`axe finds nothing beside a hit, ${scheme}`, async ({ page, morning: { ui } }) => {
    await page.emulateMedia({ colorScheme: scheme });
    await page.goto(ui.link);
    await expect(heading(page)).toContainText("wait for you");
    await at(page, ui, `${await epicOf(page, "A shop that can be trusted")}/n/2.1/log`);
    await page.getByRole("searchbox", { name: "Find in this log" }).fill("<SCRIPT>");
    await expect(page.locator("mark[aria-current]")).toHaveText("<script>");
    expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);
    await shoot(page, `find-${scheme}`);
  });
}
