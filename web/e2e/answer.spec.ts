// What an agent asks, and what a decision has to say.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { night } from "./ralph.ts";
import { at, epicOf, expect, heading, section, shoot, test } from "./test.ts";

const shop = "A shop that can be trusted";

// An agent that asks a question about 1.1 once.
const asking = `echo "working on $RALPH_NODE"
if [ "$RALPH_NODE" = 1.1 ] && [ "$RALPH_ATTEMPT" = 1 ]; then
  printf '%s\\n' '{"result": "failed", "needs_human": true, "summary": "Which VAT rate is it: 7 or 19?"}' > "$RALPH_OUTCOME"
  exit 0
fi
echo "$RALPH_NODE" > "out-$RALPH_NODE.txt"
printf '%s\\n' '{"result": "success"}' > "$RALPH_OUTCOME"
`;

test("a question is answered, and the attempt that asked is replaced", async ({ page, keep }) => {
  const repo = await keep(night((dir) => writeFileSync(join(dir, "agent.sh"), asking)));
  await repo.ralph(4, "apply");
  const ui = await repo.ui();
  await page.goto(ui.link);
  const waits = section(page, "Waits for you");
  await expect(waits).toContainText("Which VAT rate is it: 7 or 19?");
  await waits.getByRole("link", { name: "answer 1.1" }).click();
  const form = page.getByRole("form", { name: "Answer" });
  const answer = form.getByRole("textbox", { name: "Your answer" });
  await expect(answer).toBeFocused();

  await page.keyboard.press("Control+Enter"); // nothing is sent: the console would say 422
  await expect(form.getByRole("alert")).toHaveText(/Write an answer: the agent goes on with it\./);
  await expect(form).not.toContainText("-m TEXT");
  await expect(answer).toBeFocused();
  await shoot(page, "answer-empty");
  await page.keyboard.type("19");
  await expect(form.getByRole("alert")).toHaveCount(0);
  await page.keyboard.press("Control+Enter");
  await expect(page.getByRole("status").filter({ hasText: "Decided" })).toBeVisible();

  await repo.ralph(3, "apply");
  await page.getByRole("link", { name: /^Attempts/ }).click();
  const first = page.getByRole("article", { name: "implement #1" });
  await expect(first.getByRole("heading", { level: 2 })).toContainText("replaced");
  await expect(first).not.toContainText("cancelled");
  await expect(page.getByRole("article", { name: "implement #2" })).toContainText("passed");
  expect(await repo.ralph(0, "show", "1.1")).toMatch(/implement #1: replaced/);
});

test("a rejection without a reason is not sent", async ({ page, morning: { ui } }) => {
  await page.goto(ui.link);
  await expect(heading(page)).toContainText("wait for you");
  await at(page, ui, `${await epicOf(page, shop)}/n/2.1/now?do=reject`);
  const form = page.getByRole("form", { name: "Reject" });
  await form.getByRole("textbox", { name: /what has to change/i }).fill("  ");
  await form.getByRole("button", { name: /^Send: reject/ }).click();
  await expect(form.getByRole("alert")).toHaveText(/Say what has to change: the next attempt gets it as feedback\./);
  await expect(form.getByRole("textbox", { name: /what has to change/i })).toBeFocused();
});

test("the change of a sprint that joins two results says what it begins with", async ({ page, keep }) => {
  const repo = await keep(night());
  await repo.ralph(3, "apply");
  for (const key of ["2.1", "2.2"]) await repo.ralph(0, "approve", key, "--as", "ada");
  await repo.ralph(3, "apply");
  const ui = await repo.ui();
  await page.goto(ui.link);
  await expect(heading(page)).toContainText("1 failed");
  await at(page, ui, `${await epicOf(page, shop)}/n/2.3/diff`);
  await expect(page.getByRole("main")).toContainText("out-2.3.txt");
  await expect(page.getByText(/what it needs, joined \(tree [0-9a-f]{12}\), to [0-9a-f]{12}/)).toBeVisible();
});
