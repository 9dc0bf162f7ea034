// What comes next: whether a run goes on by itself, what of it is said first, and which of
// several things a row and a key are about.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { night } from "./ralph.ts";
import { at, epicOf, expect, heading, section, shoot, test } from "./test.ts";

const shop = "A shop that can be trusted";

test("where no apply is at work, the command to type once one has decided stands beside what waits", async ({ page, morning: { repo, ui } }) => {
  await page.goto(ui.link);
  const says = /No ralph apply is at work, and no decision starts one\. Once you have decided, type: ralph apply/;
  await expect(section(page, "Next")).toContainText(says);
  await expect(section(page, "Next").getByText(says)).toBeInViewport({ ratio: 1 });
  await expect(section(page, "Next")).toContainText(`in ${repo.dir}`);
  const epic = await epicOf(page, shop);
  for (const place of ["#/inbox", epic]) {
    await at(page, ui, place);
    await expect(page.getByRole("main")).toContainText(says);
  }
});

test("while apply is at work, it goes on by itself; one that was killed is said first", async ({ page, keep }) => {
  const repo = await keep(night(undefined, true)); // 2.3 waits for release
  const apply = repo.start("apply", "--wait");
  const ui = await repo.ui();
  await page.goto(ui.link);
  await expect(heading(page)).toContainText("2 wait for you, 1 failed", { timeout: 60_000 });
  const next = section(page, "Next");
  await expect(next).toContainText("ralph apply is at work: it goes on by itself with what you decide.");
  await expect(next).not.toContainText("type:");
  for (const key of ["2.1", "2.2"]) await repo.ralph(0, "approve", key, "--as", "ada");
  await expect(next).toContainText(/at work on.*2\.3/, { timeout: 60_000 });
  await apply.kill();
  await expect(heading(page)).toHaveText("1 failed, interrupted");
  await expect(next).toContainText(/To go on: ralph apply/);
  await expect(next).toContainText(/interrupted: *2\.3/); // nothing is at work
  await expect(next).toContainText("plays of the 1 sprint that can still run"); // 1.3 is behind what failed
  await expect(page.getByRole("main")).toContainText("1 interrupted");
  await expect(page.getByRole("main")).not.toContainText(/at work|running/);
  const epic = await epicOf(page, shop);
  await at(page, ui, epic);
  await expect(section(page, "Interrupted")).toContainText("2.3");
  await at(page, ui, `${epic}/n/2.3/now`);
  await expect(page.getByRole("main")).toContainText("interrupted for");
  await at(page, ui, `${epic}/graph`);
  await expect(page.getByRole("button", { name: /^next at work 0/ })).toBeDisabled();
  await at(page, ui, "#/");
  await expect(heading(page)).toContainText("interrupted");
  await shoot(page, "interrupted");
});

test("the key of a decision takes what a row shows, not what stands behind more", async ({ page, morning: { ui } }) => {
  await page.goto(ui.link);
  await expect(heading(page)).toContainText("wait for you");
  for (const key of ["t", "s"]) {
    await page.keyboard.press(key); // the rows of what waits offer neither
    await expect(heading(page)).toContainText("1.2 Refunds");
    await page.keyboard.press("Escape");
    await at(page, ui, "#/");
    await expect(heading(page)).toContainText("wait for you");
  }
  await page.keyboard.press("a");
  await expect(heading(page)).toContainText(/2\.[12]/);
});

test("of two plans in one repository, each row names its own", async ({ page, keep }) => {
  const repo = await keep(night());
  await repo.ralph(3, "apply");
  writeFileSync(join(repo.dir, "other.md"), "# Another shop\n\n### Sprint 1.1: Shelves\n\n**Policy**: looked-at\n\n**Tasks**:\n- [ ] put up the shelves\n");
  await repo.ralph(0, "compile", "other.md", "-o", "other.json");
  await repo.git("add", "-A");
  await repo.git("commit", "-q", "-m", "another plan");
  await repo.ralph(4, "apply", "other.json");
  const ui = await repo.ui();
  await page.goto(ui.link);
  await expect(heading(page)).toHaveText("3 wait for you, 1 failed");
  for (const place of ["#/", "#/inbox"]) {
    await at(page, ui, place);
    const row = (name: string) => page.getByRole("main").getByRole("listitem").filter({ hasText: name });
    await expect(row("Shelves")).toContainText("Another shop");
    await expect(row("Sign-in")).toContainText(shop);
    await expect(page.getByRole("main")).toContainText(/Another shop.*Once you have decided, type: ralph apply \S+epic\.json/s);
  }
  await shoot(page, "two-plans");
});

test("of two changes by others, one accepts the one that was chosen", async ({ page, keep }) => {
  const agent = 'echo "$RALPH_NODE" > "out-$RALPH_NODE.txt"\nif [ "$RALPH_NODE" = 1.1 ]; then export HOME=/; cd "${HOLD%hold}shop"; git config alias.one status; git config alias.two status; fi\n';
  const repo = await keep(night((dir) => writeFileSync(join(dir, "agent.sh"), agent)));
  await repo.ralph(3, "apply");
  const ui = await repo.ui();
  await page.goto(ui.link);
  await expect(heading(page)).toHaveText("4 wait for you, 1 failed");
  const row = section(page, "Waits for you").getByRole("listitem").filter({ hasText: "alias.two" });
  await row.getByRole("link", { name: /^accept the change/ }).click();
  const form = page.getByRole("form");
  await expect(form.getByRole("heading")).toContainText("alias.two");
  await expect(form).toContainText(/ralph approve --tamper/);
  await shoot(page, "accept-change");
  await page.keyboard.press("Escape");
  await expect(form).toHaveCount(0);
  await section(page, "Waits for you").getByRole("link", { name: /^approval 2\.1/ }).focus();
  await page.keyboard.press("a"); // it is about the row that is marked
  await expect(heading(page)).toContainText("2.1 Sign-in");
});
