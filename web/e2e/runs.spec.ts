// The attempts as a graph, and the epic's graph.
import { epicOf, expect, heading, shoot, test } from "./test.ts";

// S4-128, S4-129, S4-130
test("runs are boxes in the order in which they ran; a click opens one", async ({ page, morning: { ui } }) => {
  await page.goto(ui.link);
  await expect(heading(page)).toContainText("wait for you");
  await page.goto(`${ui.address}${await epicOf(page, "A shop that can be trusted")}/runs`);
  const picture = page.getByRole("group", { name: "Runs as a graph" });
  // a sign, a word and a colour: no state is told by colour alone
  const first = picture.getByRole("link", { name: /1\.2 implement #1.*failed/ });
  const second = picture.getByRole("link", { name: /1\.2 implement #2.*failed/ });
  await expect(first).toContainText("✗");
  await expect(picture.getByRole("link", { name: /1\.1 implement #1.*passed/ })).toContainText("✔");
  await expect(picture.getByRole("link", { name: /2\.1 implement #1.*waiting/ })).toContainText("?");
  const x = async (what: typeof first) => (await what.boundingBox())?.x ?? 0;
  expect(await x(first)).toBeLessThan(await x(second));
  expect(await picture.locator("path.edge.retry").count()).toBe(1);
  expect(await picture.locator("path.edge.blocks").count()).toBeGreaterThanOrEqual(3);
  await shoot(page, "runs-picture");
  await second.click();
  await expect(page.getByRole("main")).toContainText("FAIL TestRefund");
});

test("the graph is reached and read by keyboard", async ({ page, morning: { ui } }) => {
  await page.goto(ui.link);
  await expect(heading(page)).toContainText("wait for you");
  await page.goto(`${ui.address}${await epicOf(page, "A shop that can be trusted")}`);
  await expect(heading(page)).toHaveText("A shop that can be trusted");
  await page.keyboard.press("g");
  await page.keyboard.press("g");
  await expect(heading(page)).toContainText("Graph");
  await expect(page.locator(".react-flow__node").filter({ hasText: "Refunds" }).first()).toBeVisible();
  await page.keyboard.press("Shift+N");
  await page.keyboard.press("Enter");
  await expect(heading(page)).toContainText("1.2");
});
