// The attempts as a graph, and the epic's graph.
import { epicOf, expect, heading, section, shoot, test } from "./test.ts";

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
  const cut = await picture.locator(".run .line").evaluateAll((all) => all.filter((l) => l.scrollWidth > l.clientWidth).map((l) => l.textContent));
  expect(cut, "what does not fit into its box").toEqual([]);
  await shoot(page, "runs-picture");
  await expect(page.locator(".react-flow__node")).toHaveCount(await picture.getByRole("link", { name: /#/ }).count());
  await second.click();
  await expect(page.getByRole("region", { name: "1.2 implement #2" })).toContainText("FAIL TestRefund");
  await expect(second).toHaveAttribute("aria-current", "true");
});

test("runs by keyboard: along the lines, and from the list to a run and its session", async ({ page, morning: { ui } }) => {
  await page.goto(ui.link);
  await expect(heading(page)).toContainText("wait for you");
  await page.goto(`${ui.address}${await epicOf(page, "A shop that can be trusted")}/runs?run=1.2%2Fimplement%2F1`);
  const picture = page.getByRole("group", { name: "Runs as a graph" });
  const box = (name: RegExp) => picture.getByRole("link", { name });
  await expect(box(/1\.2 implement #1/)).toBeVisible();
  await page.keyboard.press("/");
  await expect(page.locator("#find")).toBeFocused();
  for (let i = 0; i < 12 && !(await box(/1\.2 implement #1/).evaluate((b) => b === document.activeElement)); i++) await page.keyboard.press("Tab");
  await expect(box(/1\.2 implement #1/)).toBeFocused(); // the chosen one is where Tab stops
  await page.keyboard.press("ArrowRight");
  await expect(box(/1\.2 implement #2/)).toBeFocused();
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  await expect(box(/1\.1 implement #1/)).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("region", { name: "1.1 implement #1" }).getByRole("link", { name: "log" })).toBeVisible();
  await page.keyboard.press("Shift+N"); // in the list
  await page.keyboard.press("Enter");
  await expect(page.getByRole("region", { name: /1\.2 implement #\d/ })).toContainText("FAIL TestRefund");
});

test("runs at 480 pixels: the list is there, the picture on demand, and nothing is cut off", async ({ page, morning: { ui } }) => {
  await page.setViewportSize({ width: 480, height: 800 });
  await page.goto(ui.link);
  await expect(heading(page)).toContainText("wait for you");
  await page.goto(`${ui.address}${await epicOf(page, "A shop that can be trusted")}/runs`);
  await expect(section(page, "As a list").getByRole("link", { name: /2\.1/ })).toBeVisible();
  await page.getByRole("button", { name: "show the picture" }).click();
  const picture = page.getByRole("group", { name: "Runs as a graph" });
  const newest = picture.getByRole("link", { name: /integration/ });
  await expect(newest).toBeInViewport();
  expect((await newest.boundingBox())?.width ?? 0).toBeGreaterThan(90); // it can be read
  await picture.getByRole("button", { name: /fit view/i }).click(); // all of it
  await picture.getByRole("link", { name: /1\.2 implement #1/ }).click();
  await expect(page.getByRole("region", { name: "1.2 implement #1" })).toContainText("FAIL TestRefund");
  expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)).toBeLessThanOrEqual(0);
  await shoot(page, "runs-picture-480");
});

test("n and N lead through what waits and what failed, on the timeline and in the runs", async ({ page, morning: { ui } }) => {
  await page.goto(ui.link);
  await expect(heading(page)).toContainText("wait for you");
  const epic = await epicOf(page, "A shop that can be trusted");
  for (const path of ["time", "runs"]) {
    await page.goto(`${ui.address}${epic}/${path}`);
    const row = (name: RegExp) => page.locator("a[data-row]").filter({ hasText: name });
    const at = async () => (await page.locator("a[data-row]:focus .key").innerText()).trim();
    await expect(row(/2\.2/).and(page.locator("[data-need=waits]"))).toBeVisible();
    const seen = new Set<string>();
    for (let i = 0; i < 2; i++) {
      await page.keyboard.press("n");
      seen.add(await at());
    }
    expect([...seen].sort(), path).toEqual(["2.1", "2.2"]);
    await page.keyboard.press("Shift+N");
    expect(await at(), path).toBe("1.2");
  }
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
  await expect(page.getByRole("button", { name: /^next for you 2/ })).toBeEnabled();
  await expect(page.locator(".graphlist a[data-need=waits]")).toHaveCount(2);
  await page.keyboard.press("Shift+N");
  await page.keyboard.press("Enter");
  await expect(heading(page)).toContainText("1.2");
});
