// What breaks: the server is gone and comes back, the journal is damaged.
import { readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { night, type Repo } from "./ralph.ts";
import { at, browserSays, epicOf, expect, heading, section, shoot, test } from "./test.ts";

test("the server is killed, and started again on its port", async ({ context, page, keep, quiet }) => {
  quiet.allow(browserSays.gone, browserSays.status(401));
  const repo = await keep(night());
  await repo.ralph(3, "apply");
  const first = await repo.ui();
  await page.goto(first.link);
  await expect(heading(page)).toHaveText("2 wait for you, 1 failed");
  await page.goto(`${first.address}${await epicOf(page, "A shop that can be trusted")}/n/2.1/now?do=reject`);
  const typed = page.getByRole("form", { name: "Reject" }).locator("textarea");
  await typed.fill("half a thought");

  await first.program.kill();
  await expect(page.getByText("Connection lost")).toBeVisible();
  await expect(heading(page)).toContainText("Sign-in"); // what was known stays
  await expect(typed).toHaveValue("half a thought");
  await shoot(page, "lost");

  const second = await repo.ui("--port", first.port);
  expect(second.address).toBe(first.address);
  await expect(page.getByRole("alert").filter({ hasText: "Open the link that ralph ui printed" })).toBeVisible({ timeout: 40_000 });
  await expect(heading(page)).toContainText("Sign-in");
  await shoot(page, "new-link");

  const other = await context.newPage();
  await other.goto(second.link);
  await expect(heading(other)).toHaveText("2 wait for you, 1 failed");
  await expect(page.getByRole("alert")).toHaveCount(0); // the old tab goes on
  await expect(typed).toHaveValue("half a thought");
  await repo.ralph(0, "approve", "2.2", "--as", "ada");
  await page.bringToFront();
  await expect(page.getByRole("link", { name: /^Inbox ?1$/ }).first()).toBeVisible(); // and hears what happens
});

const damages: [string, (journal: string) => void][] = [
  ["bytes are flipped", (journal) => writeFileSync(journal, readFileSync(journal).map((b, i) => (i < 100 ? b : b ^ 0xff)))],
  ["it is cut short", (journal) => truncateSync(journal, 5000)],
  ["it is empty", (journal) => truncateSync(journal, 0)],
  ["it is text", (journal) => writeFileSync(journal, "no journal\n".repeat(2000))],
];

for (const [name, damage] of damages) {
  test(`the journal is damaged, ${name}: the page says so, and keeps what it had`, async ({ page, keep, quiet }) => {
    quiet.allow(browserSays.status(500));
    const repo = await keep(night());
    await repo.ralph(3, "apply");
    const ui = await repo.ui();
    await page.goto(ui.link);
    await expect(section(page, "Failed")).toContainText("TestRefund");
    damage(journalOf(repo));
    await expect(page.getByRole("alert").filter({ hasText: "may be old" }).first()).toBeVisible();
    await expect(section(page, "Failed")).toContainText("TestRefund");
    await expect(section(page, "Waits for you")).toContainText("Sign-in");
    await at(page, ui, await epicOf(page, "A shop that can be trusted"));
    await expect(heading(page)).toHaveText("A shop that can be trusted");
    await expect(page.getByRole("alert").filter({ hasText: "may be old" }).first()).toBeVisible();
    await shoot(page, `damaged-${name.replaceAll(" ", "-")}`);
  });
}

test("a server that is started on a damaged journal says so", async ({ page, keep }) => {
  const repo = await keep(night());
  await repo.ralph(3, "apply");
  const journal = journalOf(repo);
  writeFileSync(journal, readFileSync(journal).map((b, i) => (i < 4096 ? b : b ^ 0xff)));
  const ui = await repo.ui();
  await page.goto(ui.link);
  await expect(page.getByRole("alert")).toContainText("cannot be read");
  await shoot(page, "damaged-at-start");
});

function journalOf(repo: Repo): string {
  const runs = join(repo.dir, ".git/ralph");
  return join(runs, readdirSync(runs)[0] ?? "", "journal.db");
}
