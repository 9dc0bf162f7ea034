// What speaks against a run: shortly on the first page, with all of it behind.
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { edit, night } from "./ralph.ts";
import { at, epicOf, expect, heading, section, shoot, test } from "./test.ts";

const waits = `echo "$RALPH_NODE" > "out-$RALPH_NODE.txt"
while [ -e "$HOLD" ] && [ "$RALPH_NODE" = "1.1" ]; do sleep 0.1; done
`;

test("a plan that is compiled while apply is at work is one line, and a gate that its agent can edit is named", async ({ page, keep }) => {
  const repo = await keep(
    night((dir) => {
      writeFileSync(join(dir, "agent.sh"), waits);
      writeFileSync(join(dir, "check.sh"), "exit 0\n");
      edit(join(dir, "ralph.hcl"), (policy) => policy.replace("if [ -e out-1.2.txt ]", "sh check.sh; if [ -e out-1.2.txt ]"));
    }, true),
  );
  const ui = await repo.ui();
  await page.goto(ui.link);
  const apply = repo.start("apply");
  await expect(heading(page)).toContainText("running");
  for (const n of [4, 5, 6]) {
    appendFileSync(join(repo.dir, "plan.md"), `\n### Sprint 2.${n}: More\n\n**Tasks**:\n- [ ] more\n`);
    await repo.ralph(0, "compile", "plan.md");
  }
  repo.release();
  expect(await apply.over).toBe(3);
  await expect(heading(page)).toContainText("wait for you");
  const trust = section(page, "Trust");
  await expect(trust).toContainText("your checkout: changed: epic.json, plan.md");
  await expect(trust.getByText("epic.json")).toHaveCount(1);
  await expect(trust.locator("code")).toHaveCount(0);
  await expect(trust).toContainText("gate unit runs through check.sh, which the agent of 1.1");
  await shoot(page, "trust-compiled");
  await at(page, ui, `${await epicOf(page, "A shop that can be trusted")}/trust`);
  const others = section(page, "Changes and commits by others");
  await expect(others).toContainText("git status");
  await others.getByText("put it back, if it was not you").click();
  await expect(others).toContainText("cp -p");
});
