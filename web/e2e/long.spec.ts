// Long titles, keys and reasons: nothing is wider than its place, and all of it can be read.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { edit, night } from "./ralph.ts";
import { at, epicOf, expect, heading, shoot, test } from "./test.ts";

const words = (n: number): string => Array.from({ length: n }, (_, i) => `word${i}`).join(" ");
const unbroken = "Donaudampfschifffahrtsgesellschaftskapitänspatentprüfungsordnungsänderungsantrag".repeat(2);
const failing = `refunds-${"as-the-law-wants-them-".repeat(3)}now`;
const waiting = `sign-in-${"with-a-password-".repeat(4)}twice`;
const reason = `FAIL ${unbroken} ${words(60)}`; // more than 500 characters
const gate = `sign-off-by-somebody-who-knows-${"what-it-is-about-".repeat(5)}x`;

// A plan of Cursor: its sprints have any ids.
const plan = `---
dialect: cursor
todos:
  - id: prices
    content: Prices
    status: pending
    dependencies: []
  - id: ${failing}
    content: Refunds ${words(30)} ${unbroken}
    status: pending
    dependencies: [prices]
  - id: ${waiting}
    content: Sign-in ${words(30)} ${unbroken}
    status: pending
    dependencies: []
  - id: terms
    content: Terms of sale ${unbroken}
    status: pending
    dependencies: []
  - id: orders
    content: Orders
    status: pending
    dependencies: [${failing}, ${waiting}]
---
# A shop that can be trusted ${words(30)} ${unbroken}
`;

const long = (dir: string): void => {
  writeFileSync(join(dir, "plan.md"), plan);
  edit(join(dir, "ralph.hcl"), (policy) =>
    policy
      .replace('gate "sign-off"', `gate "${gate}"`)
      .replace("gates        = [gate.unit]", `gates        = [gate.unit, gate.${gate}]`)
      .replace(/policy "looked-at" \{[\s\S]*?^\}\n/m, "")
      .replace("out-1.2.txt", `out-${failing}.txt`)
      .replace("FAIL TestRefund: got 0, want 12.50", reason),
  );
  writeFileSync(join(dir, "agent.sh"), `echo "${unbroken}"\necho x > "out-$RALPH_NODE.txt"\nprintf '%s\\n' "${unbroken}" > "${"directory-".repeat(15)}$RALPH_NODE.txt"\n`);
};

for (const width of [480, 1300]) {
  test(`long texts at ${width} pixels`, async ({ page, keep }) => {
    test.setTimeout(240_000);
    const repo = await keep(night(long));
    await repo.ralph(4, "apply");
    await repo.ralph(0, "approve", "prices", "--as", "ada");
    await repo.ralph(3, "apply");
    await repo.ralph(0, "reject", waiting, "--as", "ada", "-m", reason);
    const ui = await repo.ui();
    await page.setViewportSize({ width, height: 800 });
    await page.goto(ui.link);
    await expect(heading(page)).toContainText("for you");
    const epic = await epicOf(page, "A shop that can be trusted");
    for (const [path, shows] of [
      ["#/", "Refunds"],
      ["#/inbox", "Terms of sale"],
      [epic, "All sprints"],
      [`${epic}/graph`, "next failed"],
      [`${epic}/graph?at=${waiting}`, "needed by"],
      [`${epic}/time`, "Refunds"],
      [`${epic}/runs?run=${failing}%2Fimplement%2F2`, "As a list"],
      [`${epic}/plan`, "Refunds"],
      [`${epic}/cost`, "Cost"],
      [`${epic}/trust`, "The journal"],
      [`${epic}/log`, "reject (gate"],
      [`${epic}/n/${failing}/now`, "FAIL"],
      [`${epic}/n/${waiting}/now`, "word59"],
      [`${epic}/n/terms/now?do=reject`, "Reject"],
      [`${epic}/n/${failing}/attempts`, "implement #2"],
      [`${epic}/n/${failing}/diff`, "directory-"],
      [`${epic}/n/${failing}/log`, "Donau"],
      [`${epic}/n/${failing}/prompt`, "Refunds"],
      [`${epic}/n/${waiting}/why`, "because of"],
    ] as const) {
      await test.step(path, async () => {
        await at(page, ui, path);
        await expect(page.getByRole("main")).toContainText(shows);
        await page.waitForTimeout(150); // until it is laid out
        await fits(page, `${path.split("/").slice(3).join("-").replace(/\W+/g, "-") || (path.split("/")[2] ? "epic" : path.slice(2))} ${width}`);
      });
    }
    await at(page, ui, epic);
    await page.keyboard.press("?");
    await fits(page, `help ${width}`);
    await page.keyboard.press("Escape");
  });
}

// fits: nothing is wider than the page or reaches out of main, and what is cut has its full
// text in its title.
async function fits(page: Page, name: string): Promise<void> {
  await shoot(page, `long ${name}`.trim().replaceAll(" ", "-"));
  const found = await page.evaluate(() => {
    const out: string[] = [];
    const say = (what: string, e: Element) => out.push(`${what}: <${e.tagName.toLowerCase()} class="${e.getAttribute("class") ?? ""}"> ${(e.textContent ?? "").slice(0, 60)}`);
    const over = document.documentElement.scrollWidth - document.documentElement.clientWidth;
    if (over > 0) out.push(`the page is ${over} px too wide`);
    const edge = document.documentElement.clientWidth + 0.5;
    for (const e of document.querySelectorAll<HTMLElement>("body *")) {
      if (e.closest(".react-flow, svg, .hidden, .picture") || e.offsetParent === null) continue;
      const scroller = e.parentElement?.closest<HTMLElement>(".wide, .logbox, .scroll, pre");
      if (!scroller && e.getBoundingClientRect().right > edge) say("too far right", e);
      if (getComputedStyle(e).overflowX === "hidden" && e.scrollWidth > e.clientWidth + 1 && !e.closest("[title]")) say("cut, without a title", e);
      const parent = e.parentElement;
      if (!scroller && parent && parent !== document.body && getComputedStyle(e).position === "static" && e.getBoundingClientRect().width > 0 && e.getBoundingClientRect().right > parent.getBoundingClientRect().right + 12 && getComputedStyle(parent).display !== "contents" && getComputedStyle(parent).display !== "inline") say("out of its parent", e);
    }
    for (const e of document.querySelectorAll<HTMLElement>(".react-flow__node *")) {
      if (getComputedStyle(e).overflowX === "hidden" && e.scrollWidth > e.clientWidth + 1 && !e.closest("[title]")) say("cut in a box, without a title", e);
    }
    return [...new Set(out)];
  });
  expect.soft(found, name).toEqual([]);
}
