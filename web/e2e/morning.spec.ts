// The morning after a night: what one sees first, and who is let in.
import type { Page } from "@playwright/test";
import { night } from "./ralph.ts";
import { at, browserSays, epicOf, expect, heading, section, shoot, test } from "./test.ts";

// S4-11
test("the first screen says what waits, what failed and why", async ({ page, morning: { ui } }) => {
  await page.goto(ui.link);
  await expect(heading(page)).toHaveText("2 wait for you, 1 failed");
  await expect(page).toHaveTitle(/^\(2\) /);
  const seen = async (what: ReturnType<typeof section>) => expect(what).toBeInViewport({ ratio: 1 });
  await seen(page.getByText("1 of 6 done").first());
  await seen(page.getByRole("listitem").getByText("1 failed"));
  const waits = section(page, "Waits for you");
  await seen(waits.getByRole("link", { name: /approval.*2\.1.*Sign-in/ }));
  await seen(waits.getByRole("link", { name: /approval.*2\.2.*Terms of sale/ }));
  const failed = section(page, "Failed");
  await seen(failed.getByRole("link", { name: /1\.2.*Refunds/ }));
  await seen(failed.getByText("FAIL TestRefund: got 0, want 12.50").first());
  await expect(failed).toContainText("2 attempts");
  await expect(failed).toContainText("holds up 1.3");
  await expect(waits).toContainText("holds up 2.3");
  await seen(section(page, "Next").getByText("Waiting for you: nothing moves until 2.1 or 2.2 is approved, or 1.2 is tried again or skipped."));
});

test("the link's token is not in the address, and lets in the next tab too", async ({ context, page, morning: { ui } }) => {
  const token = ui.link.split("#t=")[1] ?? "";
  expect(token.length).toBeGreaterThan(20);
  await page.goto(ui.link);
  await expect(heading(page)).toContainText("wait for you");
  expect(page.url()).toBe(`${ui.address}#/`);
  expect(await page.content()).not.toContain(token);
  await page.getByRole("main").getByRole("link", { name: "A shop that can be trusted" }).first().click();
  await expect(heading(page)).toHaveText("A shop that can be trusted");
  await page.goBack();
  await expect(heading(page)).toContainText("wait for you");
  expect(page.url()).not.toContain(token);
  const other = await context.newPage();
  await other.goto(ui.address);
  await expect(heading(other)).toContainText("wait for you");
});

test("without the token the page says what to do, and shows nothing", async ({ page, morning: { ui }, quiet }) => {
  quiet.allow(browserSays.status(401));
  await page.goto(ui.address);
  await expect(page.getByRole("alert")).toContainText("Open the link that ralph ui printed");
  await expect(page.getByRole("main")).not.toContainText("Sign-in");
  await shoot(page, "locked");
  await page.goto(`${ui.address}#t=0123456789abcdef0123456789abcdef`); // a wrong one
  await expect(page.getByRole("alert")).toContainText("Open the link that ralph ui printed");
  await expect(page.getByRole("main")).not.toContainText("Sign-in");
  await page.goto(ui.link);
  await expect(heading(page)).toContainText("wait for you");
  await expect(page.getByRole("alert")).toHaveCount(0);
});

const byHand = (page: Page) => page.getByRole("main").getByRole("paragraph").filter({ hasText: "Fix it there yourself:" });

test("what is left to do by hand names the button that follows", async ({ page, morning: { ui } }) => {
  await page.goto(ui.link);
  await expect(heading(page)).toContainText("wait for you");
  await at(page, ui, `${await epicOf(page, "A shop that can be trusted")}/n/1.2/now`);
  await expect(byHand(page)).toContainText(/cd .*Then: Run its gates/);
  await expect(section(page, "Earlier attempts")).toContainText(/implement #1.*failed.*unit fail.*TestRefund/s);
  await expect(page.getByRole("button", { name: "Run its gates" })).toBeVisible();
});

test("what has ended leads on to its result; a key without a marked row takes the first", async ({ page, keep }) => {
  const repo = await keep(night());
  await repo.ralph(3, "apply");
  const ui = await repo.ui();
  await page.goto(ui.link);
  await expect(section(page, "Waits for you").getByText("1/1 gate").first()).toBeVisible();
  await page.keyboard.press("a");
  const form = page.getByRole("form", { name: /^Approve/ });
  const commit = /commit ([0-9a-f]{12}) only/.exec(await form.getByText(/^Counts for commit/).innerText())?.[1] ?? "none";
  await expect(form).toContainText(/At a terminal: ralph approve 2\.[12] --as ada/);
  await expect(form).toContainText(`in ${repo.dir}`);
  expect(await repo.git("log", "--all", "--format=%h %D", "--abbrev=12")).toContain(commit);
  await expect(page.getByRole("region", { name: "The change to approve" })).toContainText(`to ${commit}`);
  await repo.ralph(0, "approve", "2.1", "--as", "ada");
  await repo.ralph(3, "apply");
  await page.goto(`${ui.address}#/`);
  await expect(section(page, "Waits for you")).toContainText("then 2.3 can begin");
  await expect(section(page, "Next")).toContainText("nothing moves until 2.2 is approved");
  await section(page, "Waits for you").getByRole("link", { name: /2\.2/ }).first().click();
  await expect(heading(page)).toContainText("2.2");
  await expect(page.getByRole("main")).toContainText("then 2.3 can begin");
  await repo.ralph(0, "approve", "2.2", "--as", "ada");
  await repo.ralph(0, "skip", "1.2");
  await repo.ralph(0, "apply");
  await page.goto(`${ui.address}#/`);
  await expect(heading(page)).toHaveText("Nothing waits for you, nothing failed");
  const next = section(page, "Next");
  await expect(next).toContainText("git merge ralph/plan/integration");
  await expect(next).toContainText(repo.dir);
  await expect(section(page, "Trust")).toContainText("Decisions in another's name");
});

test("--read-only offers no decision", async ({ page, morning: { repo } }) => {
  const ui = await repo.ui("--read-only");
  await page.goto(ui.link);
  await expect(heading(page)).toContainText("wait for you");
  const verbs = /^(approve|reject|retry|run its gates|skip|cancel|pause|resume)/i;
  const none = async () => {
    await expect(page.getByRole("main").getByRole("button", { name: verbs })).toHaveCount(0);
    await expect(page.getByRole("main").getByRole("link", { name: verbs })).toHaveCount(0);
  };
  await none();
  const epic = await epicOf(page, "A shop that can be trusted");
  await at(page, ui, "#/inbox");
  await expect(heading(page)).toHaveText("Inbox");
  await none();
  await at(page, ui, epic);
  await expect(heading(page)).toHaveText("A shop that can be trusted");
  await none();
  for (const place of [`${epic}/n/2.1/now`, `${epic}/n/1.2/now`]) {
    await at(page, ui, place);
    await expect(page.getByText("This page only reads")).toBeVisible();
    await none();
    for (const key of ["a", "r", "t", "s"]) await page.keyboard.press(key);
    await expect(page.getByRole("form")).toHaveCount(0);
  }
  await expect(byHand(page)).toContainText(/cd .*Then: ralph retry 1\.2 --gates-only/);
  await shoot(page, "read-only");
  await ui.program.stop();
});
