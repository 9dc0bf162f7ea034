// Every page with the Tab key alone: all that can be used is reached, in the order in which it
// stands, and nothing keeps the focus.
import type { Page } from "@playwright/test";
import { at, epicOf, expect, heading, test } from "./test.ts";

const most = 400; // presses

interface Stop {
  name: string;
  place: number; // among all elements; -1: the page itself
  seen: boolean;
}

// stop says what has the focus.
const stop = (page: Page): Promise<Stop> =>
  page.evaluate(() => {
    const e = document.activeElement;
    if (!(e instanceof Element) || e === document.body) return { name: "", place: -1, seen: true };
    const box = e.getBoundingClientRect();
    const name = `${e.tagName.toLowerCase()} ${(e.getAttribute("aria-label") ?? e.textContent ?? "").trim().slice(0, 40)}`;
    return { name, place: [...document.querySelectorAll("*")].indexOf(e), seen: box.width > 0 && box.bottom > 0 && box.top < innerHeight };
  });

// reachable is what Tab should stop at.
const reachable = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>("a[href], button, input, select, textarea, summary, [tabindex]")]
      .filter((e) => e.tabIndex >= 0 && !e.matches(":disabled") && e.checkVisibility({ visibilityProperty: true }) && !e.closest("details:not([open]) > :not(summary)"))
      .map((e) => `${e.tagName.toLowerCase()} ${(e.getAttribute("aria-label") ?? e.textContent ?? "").trim().slice(0, 40)}`),
  );

test("Tab reaches all of every page, in order, and leaves it again", async ({ page, morning: { ui } }) => {
  test.setTimeout(240_000);
  await page.goto(ui.link);
  await expect(heading(page)).toContainText("wait for you");
  const epic = await epicOf(page, "A shop that can be trusted");
  for (const [path, shows] of [
    ["#/", "FAIL TestRefund"],
    ["#/inbox", "Sign-in"],
    [epic, "All sprints"],
    [`${epic}/graph`, "next failed"],
    [`${epic}/time`, "Refunds"],
    [`${epic}/runs`, "As a list"],
    [`${epic}/plan`, "Refunds"],
    [`${epic}/cost`, "phase"],
    [`${epic}/trust`, "The journal"],
    [`${epic}/log`, "apply ended"],
    [`${epic}/n/2.1/now`, "out-2.1.txt"],
    [`${epic}/n/1.2/now?do=retry`, "Send: retry"],
    [`${epic}/n/1.2/attempts`, "implement #2"],
    [`${epic}/n/1.2/diff`, "out-1.2.txt"],
    [`${epic}/n/2.1/log`, "working on"],
    [`${epic}/n/2.1/prompt`, "sign in"],
    [`${epic}/n/2.1/why`, "because of"],
  ] as const) {
    await test.step(path, async () => {
      await at(page, ui, "#/nowhere");
      await expect(heading(page)).toHaveText("There is no such page");
      await at(page, ui, path);
      await expect(page.getByRole("main")).toContainText(shows, { ignoreCase: true });
      if (/graph|runs/.test(path)) await expect(page.locator(".react-flow__node").first()).toBeVisible();
      const want = await reachable(page);
      const stops: Stop[] = [];
      while (stops.length < most) {
        await page.keyboard.press("Tab");
        const s = await stop(page);
        if (stops.length > 0 && s.place === stops[0]?.place) break; // once round
        if (s.place >= 0) stops.push(s); // else it has left the page, and begins again
      }
      expect(stops.length, `${path} lets the focus go`).toBeLessThan(most);
      expect.soft([...new Set(want)].filter((w) => !stops.some((s) => s.name === w)), `not reached on ${path}`).toEqual([]);
      const back = stops.filter((s, i) => i > 0 && s.place < (stops[i - 1]?.place ?? 0));
      expect.soft(back.slice(1).map((s) => s.name), `out of order on ${path}`).toEqual([]); // once it begins again
      expect.soft(stops.filter((s) => !s.seen).map((s) => s.name), `not in sight on ${path}`).toEqual([]);
    });
  }
});
