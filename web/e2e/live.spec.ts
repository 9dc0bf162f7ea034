// What agents write, as they write it.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Locator } from "@playwright/test";
import { night } from "./ralph.ts";
import { at, epicOf, expect, heading, section, shoot, test } from "./test.ts";

// An agent that counts until it is released.
const counting = `echo "working on $RALPH_NODE"
echo "$RALPH_NODE" > "out-$RALPH_NODE.txt"
n=0
while [ -e "$HOLD" ] && [ "$RALPH_NODE" = "1.1" ]; do n=$((n + 1)); echo "counted to $n"; sleep 0.1; done
echo "counted enough"
`;

const counted = async (log: Locator): Promise<number> => Number((await log.innerText()).match(/counted to (\d+)/g)?.at(-1)?.split(" ")[2] ?? 0);

test("a log is followed while an agent writes it, until it ends", async ({ page, keep }) => {
  const repo = await keep(night((dir) => writeFileSync(join(dir, "agent.sh"), counting), true));
  const ui = await repo.ui();
  await page.goto(ui.link);
  await expect(page.getByRole("main").getByText("not started").first()).toBeVisible();
  const epic = await epicOf(page, "A shop that can be trusted");
  const apply = repo.start("apply");
  await expect(page.getByRole("main").getByText("at work").first()).toBeVisible(); // without a reload
  await expect(heading(page)).toContainText("running");

  await at(page, ui, `${epic}/n/1.1/now`);
  const log = page.getByRole("region", { name: /^Log/ });
  await expect(log).toContainText("working on 1.1");
  await grows(log);
  await page.waitForTimeout(5000); // nothing happens to the sprint, but that it writes
  await expect(page.getByText(/last sign of life [0-3]s ago/)).toBeVisible();
  await shoot(page, "log-live");

  await at(page, ui, `${epic}/n/1.1/log`);
  await expect(log).toContainText("working on 1.1");
  await grows(log);
  await expect.poll(() => log.evaluate((b) => b.scrollHeight - b.clientHeight), { timeout: 30_000 }).toBeGreaterThan(100);
  await log.press("Home"); // who reads above is left there, and is told of what comes
  await expect(page.getByRole("button", { name: /paused, [1-9]\d* new lines?: to the end/ })).toBeVisible();
  const top = () => log.evaluate((b) => b.scrollTop);
  await expect.poll(top).toBe(0); // the browser scrolls there in some frames
  await grows(log);
  expect(await top()).toBe(0);
  await shoot(page, "log-paused");
  await page.getByRole("button", { name: /^paused/ }).click();
  await expect(page.getByText("following as it is written")).toBeVisible();
  await grows(log);

  repo.release();
  await expect(log).toContainText("counted enough");
  expect(await apply.over).toBe(3);
  await at(page, ui, "#/");
  await expect(heading(page)).toHaveText("2 wait for you, 1 failed");
});

test("what waits for a slot is named beside what runs", async ({ page, keep }) => {
  const repo = await keep(night((dir) => writeFileSync(join(dir, "agent.sh"), counting.replace('= "1.1"', '!= "1.1"')), true));
  const ui = await repo.ui();
  await page.goto(ui.link);
  const apply = repo.start("apply", "--parallel", "1");
  await expect(section(page, "Next")).toContainText("1 of 1 slot; 2.1, 2.2 wait for one");
  await at(page, ui, await epicOf(page, "A shop that can be trusted"));
  await expect(section(page, "Running")).toContainText("1 of 1 slot; 2.1, 2.2 wait for one");
  await shoot(page, "slots");
  repo.release();
  expect(await apply.over).toBe(3);
});

// grows waits until lines came.
async function grows(log: Locator): Promise<void> {
  const before = await counted(log);
  await expect.poll(() => counted(log), { timeout: 20_000 }).toBeGreaterThan(before + 3);
}
