// Measures the graph of an epic in Chromium and prints one line of JSON:
//
//   node measure.mjs LINK EPIC
//
// LINK is what ralph ui printed, EPIC the epic's id in addresses. bench/browser_test.go runs
// it, with a night of 10,000 sprints.
import { chromium } from "@playwright/test";
import { gzipSync } from "node:zlib";

const [link, epic] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || undefined });
try {
  process.stdout.write(`${JSON.stringify(await measure())}\n`);
} finally {
  await browser.close();
}

async function measure() {
  const context = await browser.newContext({ viewport: { width: 1300, height: 800 } });
  const first = await context.newPage();
  const scripts = new Map();
  first.on("response", (r) => {
    if (/\.js$/.test(new URL(r.url()).pathname)) scripts.set(r.url(), r.body());
  });
  await first.goto(link);
  await first.locator("main h1").waitFor();
  await first.waitForLoadState("networkidle").catch(() => undefined);
  let js = 0;
  for (const body of scripts.values()) js += gzipSync(await body).length;
  const times = [];
  let page = first;
  for (let i = 0; i < 3; i++) {
    await page.close();
    page = await context.newPage();
    times.push(await picture(page));
  }
  const drawn = await page.evaluate(() => [...document.querySelectorAll(".strip path")].reduce((n, p) => n + (p.getAttribute("d")?.split("M").length ?? 1) - 1, 0));
  const all = Number(((await page.locator(".steps").innerText()).match(/([\d,]+) sprints in/)?.[1] ?? "0").replaceAll(",", ""));
  const frames = await panned(page);
  return { js_gz: js, first_ms: middle(times), frame_ms: middle(frames), frames: frames.length, heap: await heapOf(context, page), drawn, all };
}

// picture opens the graph, and returns how long it took from the begin of the page until its
// boxes were painted, in ms.
async function picture(page) {
  await page.goto(`${link.split("#")[0]}#/e/${epic}/graph`);
  const painted = await page.waitForFunction(
    () => document.querySelector(".react-flow__node .strip, .react-flow__node .sprintbox") && new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now())))),
    undefined,
    { polling: "raf", timeout: 120_000 },
  );
  return painted.jsonValue();
}

// panned moves the picture about with the mouse, and returns the time of each frame meanwhile.
async function panned(page) {
  const box = await page.locator(".react-flow__pane").boundingBox();
  await page.evaluate(() => {
    const frames = [];
    globalThis.measured = frames;
    let last = performance.now();
    const frame = () => {
      const now = performance.now();
      frames.push(now - last);
      last = now;
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
  const [x, y] = [box.x + box.width / 2, box.y + 12];
  await page.mouse.move(x, y);
  await page.mouse.down();
  for (let i = 0; i < 200; i++) await page.mouse.move(x + 200 * Math.sin(i / 15), y + 150 * Math.sin(i / 11));
  await page.mouse.up();
  return page.evaluate(() => globalThis.measured);
}

async function heapOf(context, page) {
  const cdp = await context.newCDPSession(page);
  await cdp.send("HeapProfiler.collectGarbage");
  return (await cdp.send("Runtime.getHeapUsage")).usedSize;
}

function middle(list) {
  return [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
}
