// The whole run: paused, resumed, given more budget and cancelled on the page, while apply
// is at work. What counts is what the run did: its journal, its status, its processes.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { edit, night, type Event, type Repo } from "./ralph.ts";
import { at, browserSays, epicOf, expect, heading, section, shoot, test } from "./test.ts";

const shop = "A shop that can be trusted";

// An agent that writes down its process and waits for its release. What it costs is known.
const waiting = (nodes: string): string => `echo "$RALPH_NODE" > "out-$RALPH_NODE.txt"
echo "$RALPH_NODE $$" >> "$HOLD.pids"
printf '%s\\n' '{"usage":{"usd":0.60,"tokens":1000},"result":"success"}' > "$RALPH_OUTCOME"
case "$RALPH_NODE" in ${nodes}) while [ -e "$HOLD" ]; do sleep 0.1; done;; esac
`;

const policy = (dir: string, add: string): void => edit(join(dir, "ralph.hcl"), (text) => text + add);

// statusOf is how a sprint stands in the run.
const statusOf = async (repo: Repo, key: string): Promise<string | undefined> => (await repo.status()).nodes.find((n) => n.key === key)?.status;

// stands waits until sprints stand so, as the run says.
async function stands(repo: Repo, want: Record<string, string>): Promise<void> {
  for (const [key, status] of Object.entries(want)) await expect.poll(() => statusOf(repo, key), { message: key, timeout: 60_000 }).toBe(status);
}

// decided is the only event of a decision that the page has sent.
function decided(events: Event[], verb: string, node?: string): Event {
  const all = events.filter((e) => e.kind === "decided" && e.data.verb === verb && e.node === node);
  expect(all, verb).toHaveLength(1);
  expect(all[0]?.data.from, verb).toMatch(/./); // the browser's process: nothing else sends one
  return all[0] as Event;
}

const running = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

const taken = (page: Page) => page.getByRole("status").filter({ hasText: "Decided" });

test("pause and resume: nothing starts between them", async ({ page, keep }) => {
  const repo = await keep(night((dir) => writeFileSync(join(dir, "agent.sh"), waiting("1.1")), true));
  const apply = repo.start("apply", "--wait");
  const ui = await repo.ui();
  await page.goto(ui.link);
  await stands(repo, { "1.1": "running" });
  await at(page, ui, await epicOf(page, shop));
  await section(page, "The run").getByRole("button", { name: "Pause the run" }).click();
  const form = page.getByRole("form", { name: "Pause the run" });
  await form.getByLabel("Why, or nothing").fill("deploys are frozen");
  await form.getByRole("button", { name: /^Send: pause/ }).click();
  await expect(taken(page)).toContainText("acts on it");
  await expect(page.getByRole("main")).toContainText(/paused by .*: deploys are frozen/);
  expect((await repo.status()).run).toMatchObject({ state: "at work", held: "human" });
  await shoot(page, "paused");

  repo.release();
  await stands(repo, { "1.1": "done" }); // what ran goes on
  await stands(repo, { "1.2": "ready", "2.1": "ready", "2.2": "ready" });
  await page.getByRole("button", { name: "Resume the run" }).click();
  await page.getByRole("form", { name: "Resume the run" }).getByRole("button", { name: /^Send: resume/ }).click();
  await expect(taken(page)).toContainText("acts on it");
  await stands(repo, { "1.2": "blocked", "2.1": "waiting", "2.2": "waiting" });
  await expect(page.getByRole("main")).not.toContainText("paused by");
  expect((await repo.status()).run).not.toHaveProperty("held");

  const events = await repo.events();
  const [paused, resumed] = [decided(events, "pause"), decided(events, "resume")];
  expect(paused.data.message).toBe("deploys are frozen");
  const started = events.filter((e) => e.kind === "attempt.started").map((e) => e.seq);
  expect(started.filter((seq) => seq < paused.seq)).toHaveLength(1);
  expect(started.filter((seq) => seq > paused.seq && seq < resumed.seq)).toEqual([]);
  expect(started.filter((seq) => seq > resumed.seq).length).toBeGreaterThanOrEqual(3);
  await apply.stop();
});

test("more budget for a run that was paused meanwhile is refused, until the pause was seen", async ({ page, keep, quiet }) => {
  quiet.allow(browserSays.status(409));
  const repo = await keep(
    night((dir) => {
      writeFileSync(join(dir, "agent.sh"), waiting("1.1"));
      policy(dir, 'budget { wall = "2h" }\n');
    }, true),
  );
  const apply = repo.start("apply");
  const ui = await repo.ui();
  await page.goto(ui.link);
  await stands(repo, { "1.1": "running" });
  await at(page, ui, await epicOf(page, shop));
  await section(page, "The run").getByRole("button", { name: "Add to the budget" }).click();
  const form = page.getByRole("form", { name: "Add to the budget" });
  const more = form.getByRole("textbox", { name: /^Add to the budget/ });
  await expect(more).toHaveValue("wall=+1h");
  await more.fill("wall=+3h");
  await repo.ralph(0, "pause", "-m", "who pays?");
  await expect(page.getByRole("main")).toContainText("paused by"); // whoever types does not look there
  await expect(more).toHaveValue("wall=+3h");
  const answer = page.waitForResponse((r) => r.request().method() === "POST");
  await form.getByRole("button", { name: /^Send: add to the budget/ }).click();
  expect((await answer).status()).toBe(409);
  await expect(form.getByRole("alert")).toContainText("It has changed since it was shown");
  await expect(form.getByRole("alert")).toContainText("has been paused by");
  await shoot(page, "paused-meanwhile");
  expect((await repo.status()).run).toMatchObject({ held: "human", budget: { wall_ms: 2 * 3_600_000 } });
  expect((await repo.events()).filter((e) => e.data.verb === "resume")).toEqual([]);

  await form.getByRole("button", { name: /^I have looked/ }).click();
  const anew = page.getByRole("form", { name: "Resume the run" }); // that is what it is now
  await expect(anew.getByRole("textbox", { name: /^Add to the budget/ })).toHaveValue("wall=+3h");
  await anew.getByRole("button", { name: /^Send: resume/ }).click();
  await expect(taken(page)).toContainText("acts on it");
  const { run } = await repo.status();
  expect(run).not.toHaveProperty("held");
  expect(run.budget.wall_ms).toBe(5 * 3_600_000);
  decided(await repo.events(), "resume");
  repo.release();
  expect(await apply.over).toBe(3);
});

test("a run that has spent its budget goes on with more", async ({ page, keep }) => {
  const repo = await keep(
    night((dir) => {
      writeFileSync(join(dir, "agent.sh"), waiting("none"));
      policy(dir, "budget { usd = 1 }\n");
      edit(join(dir, "ralph.hcl"), (text) => text.replace("gates        = [gate.unit, gate.sign-off]", "gates        = [gate.unit]").replace("out-1.2.txt", "none.txt"));
    }),
  );
  const apply = repo.start("apply", "--wait");
  const ui = await repo.ui();
  await page.goto(ui.link);
  await expect.poll(async () => (await repo.status()).run.held, { timeout: 60_000 }).toBe("budget");
  const before = await repo.events();
  await at(page, ui, await epicOf(page, shop));
  await page.getByRole("button", { name: "Resume the run" }).click();
  const form = page.getByRole("form", { name: "Resume the run" });
  const more = form.getByRole("textbox", { name: /^Add to the budget/ });
  await expect(more).toHaveValue(/^usd=\+\d/);
  await more.fill("usd=+20");
  await form.getByRole("button", { name: /^Send: resume/ }).click();
  await expect(taken(page)).toContainText("acts on it");
  expect(await apply.over).toBe(0);
  const { run, nodes } = await repo.status();
  expect(run.budget.usd_micro).toBe(21_000_000);
  expect(nodes.filter((n) => n.status !== "done")).toEqual([]);
  const resumed = decided(await repo.events(), "resume");
  expect(resumed.seq).toBeGreaterThan(before.at(-1)?.seq ?? 0);
  await expect(heading(page)).toHaveText(shop);
  await expect(page.getByText("6 of 6 done").first()).toBeVisible();
});

test("cancel: a sprint alone, then the run, with the processes of both", async ({ page, keep }) => {
  const repo = await keep(night((dir) => writeFileSync(join(dir, "agent.sh"), waiting("2.*")), true));
  const apply = repo.start("apply", "--wait", "--grace", "0s");
  const ui = await repo.ui();
  await page.goto(ui.link);
  const pids = (): Map<string, number> => new Map(readFileSync(join(repo.top, "hold.pids"), "utf8").trim().split("\n").map((line) => [line.split(" ")[0] ?? "", Number(line.split(" ")[1])]));
  await stands(repo, { "1.2": "blocked", "2.1": "running", "2.2": "running" });
  await expect.poll(() => [...pids().keys()].sort()).toEqual(["1.1", "1.2", "2.1", "2.2"]);
  const [first, second] = [pids().get("2.1") ?? 0, pids().get("2.2") ?? 0];
  expect([running(first), running(second)]).toEqual([true, true]);

  const epic = await epicOf(page, shop);
  await at(page, ui, `${epic}/n/2.1/now`);
  await page.getByRole("button", { name: "Cancel", exact: true }).click();
  await page.getByRole("form", { name: "Cancel" }).getByRole("button", { name: /^Send: cancel/ }).click();
  await expect(taken(page)).toContainText("acts on it");
  await stands(repo, { "2.1": "cancelled" });
  await expect.poll(() => running(first)).toBe(false);
  expect(await statusOf(repo, "2.2")).toBe("running");
  expect(running(second)).toBe(true);

  await at(page, ui, epic);
  await section(page, "The run").getByRole("button", { name: "Cancel the run" }).click();
  await page.getByRole("form", { name: "Cancel the run" }).getByRole("button", { name: /^Send: cancel/ }).click();
  await expect(taken(page)).toContainText("acts on it");
  expect(await apply.over).not.toBe(0);
  expect(running(second)).toBe(false);
  const { run, nodes } = await repo.status();
  expect(run.state).toBe("interrupted"); // 2.2, which is not given up, was
  expect(run.draining).toMatch(/^cancelled by /);
  const events = await repo.events();
  const id = (key: string) => nodes.find((n) => n.key === key)?.id;
  expect(decided(events, "cancel", id("2.1")).seq).toBeLessThan(decided(events, "cancel").seq);
  await expect(page.getByRole("main").getByText(/interrupted/).first()).toBeVisible();
  await shoot(page, "cancelled");
});
