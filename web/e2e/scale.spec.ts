// Much of it: a long log that is being written, a large diff.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { night } from "./ralph.ts";
import { at, epicOf, expect, heading, shoot, test } from "./test.ts";

const shop = "A shop that can be trusted";

// 150,000 lines at once, then some 1,000 a second until there are 200,000 and it is released.
const talking = `echo "$RALPH_NODE" > "out-$RALPH_NODE.txt"
[ "$RALPH_NODE" = "1.1" ] || exit 0
seq -f 'line %.0f of what an agent may say while it works' 1 150000
n=150000
while [ -e "$HOLD" ] || [ $n -lt 200000 ]; do
  seq -f 'line %.0f of what an agent may say while it works' $((n + 1)) $((n + 500))
  n=$((n + 500))
  [ -e "$HOLD" ] && sleep 0.4
done
echo "that was all"
`;

test("200,000 lines of a log are followed, and what one types is there at once", async ({ page, keep }) => {
  test.setTimeout(180_000);
  const repo = await keep(night((dir) => writeFileSync(join(dir, "agent.sh"), talking), true));
  const ui = await repo.ui();
  const apply = repo.start("apply");
  await page.goto(ui.link);
  await expect(heading(page)).toContainText("running");
  const epic = await epicOf(page, shop);
  await at(page, ui, `${epic}/n/1.1/log`);
  const log = page.getByRole("region", { name: /^Log/ });
  await expect(log).toContainText(/line 15\d{4} of/, { timeout: 30_000 });
  const last = async () => Number((await log.evaluate((b) => b.textContent?.slice(-3000) ?? "")).match(/line (\d+) of/g)?.at(-1)?.split(" ")[1] ?? 0);
  const before = await last();
  await page.keyboard.press("/");
  const find = page.getByRole("dialog").getByRole("searchbox");
  await expect(find).toBeFocused();
  const worst = await framesWhile(page, async () => {
    await page.keyboard.type("terms of sale", { delay: 60 });
    await expect(find).toHaveValue("terms of sale");
    await expect(page.getByRole("dialog").getByRole("link")).toHaveCount(1);
  });
  console.log(`${test.info().title}: at most ${Math.round(worst)} ms between two frames`);
  await page.keyboard.press("Escape"); // the text
  await page.keyboard.press("Escape"); // the dialog
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await expect.poll(last, { timeout: 20_000 }).toBeGreaterThan(before); // it has gone on
  await page.getByRole("button", { name: /before this/ }).click(); // earlier lines are asked for
  await expect(page.getByRole("button", { name: /paused/ })).toBeVisible();
  await expect.poll(() => log.evaluate((b) => b.querySelector("pre")?.textContent?.startsWith("line ") ?? false)).toBe(true);
  await page.getByRole("button", { name: /paused/ }).click();
  repo.release();
  await expect(log).toContainText("that was all", { timeout: 60_000 });
  await expect.poll(last).toBeGreaterThanOrEqual(200_000);
  await shoot(page, "log-long");
  expect(await apply.over).toBe(3);
});

// framesWhile is the longest time between two frames while something is done, in ms.
async function framesWhile(page: Page, what: () => Promise<void>): Promise<number> {
  const longest = page.evaluate(
    () =>
      new Promise<number>((done) => {
        let [last, worst] = [performance.now(), 0];
        const end = last + 1500;
        const frame = () => {
          const now = performance.now();
          worst = Math.max(worst, now - last);
          last = now;
          if (now < end) requestAnimationFrame(frame);
          else done(worst);
        };
        requestAnimationFrame(frame);
      }),
  );
  await what();
  return longest;
}

// A file of 40,000 lines of which each second one is another one afterwards.
const rewriting = `echo "$RALPH_NODE" > "out-$RALPH_NODE.txt"
[ "$RALPH_NODE" = "2.1" ] && seq -f 'new line %.0f' 1 40000 > large.txt
exit 0
`;

test("a diff of 40,000 lines is opened, read to its end and approved", async ({ page, keep }) => {
  test.setTimeout(180_000);
  const repo = await keep(
    night((dir) => {
      writeFileSync(join(dir, "agent.sh"), rewriting);
      writeFileSync(join(dir, "large.txt"), "");
    }),
  );
  await repo.ralph(3, "apply");
  const ui = await repo.ui();
  await page.goto(ui.link);
  await expect(heading(page)).toContainText("wait for you");
  await at(page, ui, `${await epicOf(page, shop)}/n/2.1/now`);
  const file = page.locator(".diff summary").filter({ hasText: "large.txt" });
  await expect(file).toContainText("+40000");
  await expect(page.getByText("new line 1", { exact: true })).toHaveCount(0); // it is shut at first
  await file.focus();
  const worst = await framesWhile(page, async () => {
    await page.keyboard.press("Enter");
    await expect(page.getByText("new line 1", { exact: false }).first()).toBeVisible();
  });
  console.log(`${test.info().title}: at most ${Math.round(worst)} ms between two frames`);
  await at(page, ui, `${await page.evaluate(() => location.hash.replace(/\/now.*/, "/diff"))}`);
  await page.locator(".diff summary").filter({ hasText: "large.txt" }).click();
  await expect(page.getByText("new line 40000")).toHaveCount(1, { timeout: 30_000 });
  await page.keyboard.press("End");
  await expect(page.getByText("new line 40000")).toBeInViewport();
  await page.goBack();
  await page.keyboard.press("a");
  await page.getByRole("form", { name: "Approve" }).locator("input[name=as]").fill("ada");
  await page.keyboard.press("Control+Enter");
  await expect(page.getByRole("status").filter({ hasText: "Decided" })).toBeVisible();
});

// More than an answer holds: it ends within the second file, and a small one is behind it.
const flooding = `echo "$RALPH_NODE" > "out-$RALPH_NODE.txt"
[ "$RALPH_NODE" = "2.1" ] || exit 0
seq -f 'a line of the first file, which is long %.0f' 1 28000 > long-1.txt
seq -f 'a line of the second file, which is cut %.0f' 1 28000 > long-2.txt
echo "the last word" > 'z [1].txt'
`;

test("a file that a long diff leaves out is opened by itself", async ({ page, keep }) => {
  const repo = await keep(night((dir) => writeFileSync(join(dir, "agent.sh"), flooding)));
  await repo.ralph(3, "apply");
  const ui = await repo.ui();
  await page.goto(ui.link);
  await expect(heading(page)).toContainText("wait for you");
  await at(page, ui, `${await epicOf(page, shop)}/n/2.1/diff`);
  await expect(page.getByText("The diff is cut: the files that it leaves out open below.")).toBeVisible();
  await expect(page.locator(".diff .command code")).toHaveText("ralph show 2.1 --diff");
  await expect(page.getByText("the last word")).toHaveCount(0);
  await page.locator(".diff summary").filter({ hasText: "z [1].txt" }).focus();
  await page.keyboard.press("Enter");
  await expect(page.getByText("the last word")).toBeVisible();
  await expect(page.getByText("second file")).toHaveCount(0); // half of it would pass for all of it
  await page.locator(".diff summary").filter({ hasText: "long-2.txt" }).click();
  const second = page.locator(".diff details details summary").filter({ hasText: "long-2.txt" });
  await expect(second).toContainText("+28000");
  await second.click();
  await expect(page.getByText("a line of the second file, which is cut 28000")).toHaveCount(1, { timeout: 30_000 });
});
