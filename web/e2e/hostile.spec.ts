// Texts of others: of plans, agents, gates and people. They are shown as text.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { edit, night } from "./ralph.ts";
import { at, epicOf, expect, heading, section, shoot, test } from "./test.ts";

const html = `<img src=x onerror=alert(1)><script>alert(2)</script>`;
const link = `[click](javascript:alert(3))`;
const escaped = (text: string): string => `\`${text}\``; // titles are markdown
const bidi = "pay \u202e05.21\u202c now";
const long = "x".repeat(10_000);

// An agent that writes all of it: to its log, in a file's name, in a file, as its claim.
const agent = `cat <<'END'
${html}
javascript:alert(4)
${bidi}
\u001b[31mred\u001b[0m \u001b]8;;javascript:alert(5)\u0007link\u001b]8;;\u0007
${long}
END
printf 'no end of line, \\377\\376 and no UTF-8'
name="$RALPH_NODE <img src=x onerror=alert(6)> ‮txt.js"
printf '%s\\n' '${html}' '${link}' '${bidi}' '${long}' > "$name"
printf '%s\\n' '{"result": "success", "summary": "${html} ${link} \\u202e05.21"}' > "$RALPH_OUTCOME"
`;

const hostile = (dir: string): void => {
  writeFileSync(join(dir, "agent.sh"), agent);
  edit(join(dir, "plan.md"), (plan) =>
    plan
      .replace("# A shop that can be trusted", `# A shop ${escaped(html)}`)
      .replace("Sprint 2.1: Sign-in", `Sprint 2.1: Sign-in ${escaped(`${html} ${link}`)}`)
      .replace("Sprint 2.2: Terms of sale", `Sprint 2.2: Terms ${"y".repeat(400)}`)
      .replace("sign in with a password", `sign in with ${html} ${link} ${long}`),
  );
  edit(join(dir, "ralph.hcl"), (policy) => policy.replace(/run {2}= "if .*"/, `run  = "if [ \\"$RALPH_NODE\\" = 1.2 ]; then echo '${long}'; printf '%s pay \\\\342\\\\200\\\\25605.21 now' '${html}'; echo; exit 1; fi"`));
};

test("hostile texts are shown as text, everywhere", async ({ page, keep }) => {
  const repo = await keep(night(hostile));
  await repo.ralph(3, "apply");
  await repo.ralph(0, "reject", "2.2", "--as", "ada", "-m", `${html} ${link}`);
  const ui = await repo.ui();
  await page.goto(ui.link);
  await expect(heading(page)).toHaveText("1 waits for you, 1 failed");
  await expect(section(page, "Waits for you")).toContainText(html);
  await expect(section(page, "Waits for you")).toContainText(link);
  await expect(section(page, "Failed")).toContainText(html);
  const epic = await epicOf(page, "A shop");
  await harmless(page, "morning");
  for (const [path, shows] of [
    ["#/inbox", html],
    [epic, html],
    [`${epic}/runs`, "As a list"],
    [`${epic}/log`, html],
    [`${epic}/graph`, html],
    [`${epic}/time`, html],
    [`${epic}/plan`, html],
    [`${epic}/cost`, html],
    [`${epic}/trust`, html],
    [`${epic}/n/2.1/why`, html],
    [`${epic}/n/2.1/now`, "onerror=alert(6)"],
    [`${epic}/n/1.2/now`, html],
    [`${epic}/n/2.2/now`, html],
    [`${epic}/n/2.1/attempts`, html],
    [`${epic}/n/2.1/diff`, html],
    [`${epic}/n/2.1/log`, "javascript:alert(4)"],
    [`${epic}/n/2.1/prompt`, html],
  ] as const) {
    await test.step(path, async () => {
      await at(page, ui, path);
      await expect(page.getByRole("main")).toContainText(shows);
      await harmless(page, nameOf(path));
    });
  }
  await at(page, ui, `${epic}/n/2.1/log`);
  const log = page.getByRole("region", { name: /^Log/ });
  await expect(log).toContainText("pay \\u202e05.21\\u202c now"); // what turns texts around is seen
  await expect(log).toContainText("red "); // without its colours
  await expect(log).toContainText(long);
  await page.setViewportSize({ width: 480, height: 800 });
  for (const path of ["#/", epic, `${epic}/n/2.2/now`, `${epic}/n/2.1/diff`, `${epic}/n/2.1/log`, `${epic}/n/2.1/prompt`]) {
    await at(page, ui, path);
    await expect(heading(page)).toBeVisible();
    await harmless(page, `480-${nameOf(path)}`);
  }
});

// nameOf names a page by the end of its path; the epic's own page has none.
const nameOf = (path: string): string => path.split("/").slice(3).join("-").replace(/[^a-z0-9-]/g, "") || (path.split("/")[2] ? "epic" : "inbox");

// harmless: nothing that a text brought is an element, a link or a turn of the writing, and
// nothing is wider than the page.
async function harmless(page: Page, name: string): Promise<void> {
  expect(await page.locator("main img, main script, main iframe, a[href^='javascript' i], a[href^='data' i]").count(), `elements on ${name}`).toBe(0);
  expect(await page.locator("body").innerText(), `what turns texts around on ${name}`).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
  expect(await page.title()).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  expect.soft(wide, `sideways on ${name}`).toBeLessThanOrEqual(0);
  await shoot(page, `hostile-${name}`);
}
