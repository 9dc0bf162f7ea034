// Another origin: what a page of another port of this machine can learn and do. The same code
// is tried on ralph's own origin, where it reads and decides.
import { createHash } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { Page } from "@playwright/test";
import { night, type Repo } from "./ralph.ts";
import { epicOf, expect, heading, test } from "./test.ts";

// Foreign is a server of somebody else. No policy holds its page back, and it answers
// everything that is tried, so that on it everything succeeds.
class Foreign {
  readonly posted: string[] = [];
  private readonly server: Server;

  constructor() {
    this.server = createServer((ask, answer) => {
      let body = "";
      ask.setEncoding("utf8").on("data", (s: string) => (body += s));
      ask.on("end", () => {
        if (ask.method === "POST") this.posted.push(body);
        if (ask.url?.endsWith("/events")) answer.setHeader("Content-Type", "text/event-stream").write("data: elsewhere\n\n");
        else answer.setHeader("Content-Type", "text/html").end("<!doctype html><title>elsewhere</title><body>elsewhere</body>");
      });
    });
    this.server.on("upgrade", (ask, socket) => {
      const accept = createHash("sha1").update(`${ask.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
      socket.on("error", () => undefined); // it is cut off
      socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`);
      this.sockets.push(socket);
    });
  }
  private readonly sockets: Duplex[] = [];

  async listen(): Promise<string> {
    await new Promise<void>((done) => this.server.listen(0, "127.0.0.1", done));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/`;
  }

  async close(): Promise<void> {
    for (const s of this.sockets) s.destroy();
    this.server.closeAllConnections();
    await new Promise((done) => this.server.close(done));
  }
}

// Tried is what came of each attempt: the text that was read, or "refused".
type Tried = Record<string, string>;

// attack tries to read and to decide, in the page, with every means that a page has. It is
// given the token: what stops it is the origin.
const attack = (page: Page, target: string, epic: string, token: string, seen: number, id: string): Promise<Tried> =>
  page.evaluate(
    async ({ target, epic, token, seen, id }) => {
      const out: Record<string, string> = {};
      const attempt = async (name: string, what: () => Promise<string>) => {
        const late = new Promise<string>((done) => setTimeout(() => done("no answer"), 20_000));
        out[name] = await Promise.race([what().catch(() => "refused"), late]);
      };
      const api = `${target}api/v1`;
      const auth = { Authorization: `Bearer ${token}` };
      const text = async (where: string, init: RequestInit = {}) => {
        const answer = await fetch(where, init);
        if (answer.type === "opaque") throw new Error("opaque");
        return `${answer.status} ${await answer.text()}`;
      };
      for (const credentials of ["omit", "include"] as const) {
        await attempt(`page, ${credentials}`, () => text(target, { credentials }));
        await attempt(`page, no-cors, ${credentials}`, () => text(target, { credentials, mode: "no-cors" }));
        await attempt(`epic, ${credentials}`, () => text(`${api}/epics/${epic}`, { credentials }));
        await attempt(`epic with the token, ${credentials}`, () => text(`${api}/epics/${epic}`, { credentials, headers: auth }));
      }
      await attempt("WebSocket", () => new Promise<string>((done, fail) => {
        const socket = new WebSocket(`${api.replace("http:", "ws:")}/events?token=${token}`);
        socket.onopen = () => (socket.close(), done("open"));
        socket.onerror = () => fail(new Error("error"));
      }));
      await attempt("EventSource", () => new Promise<string>((done, fail) => {
        const source = new EventSource(`${api}/events`, { withCredentials: true });
        source.onopen = () => (source.close(), done("open"));
        source.onerror = () => (source.close(), fail(new Error("error")));
      }));
      await attempt("stream", async () => {
        const answer = await fetch(`${api}/epics/${epic}/events`, { headers: auth });
        const reader = answer.body?.getReader();
        const first = await reader?.read();
        void reader?.cancel();
        return `${answer.status} ${new TextDecoder().decode(first?.value)}`;
      });
      await attempt("iframe", () => new Promise<string>((done, fail) => {
        const frame = document.createElement("iframe");
        frame.onload = () => {
          const inside = frame.contentDocument?.documentElement.outerHTML;
          if (inside === undefined) fail(new Error("another origin"));
          else done(inside);
        };
        frame.src = target;
        document.body.append(frame);
      }));
      const body = (n: number) => JSON.stringify({ id: `${id}-${n}`, verb: "pause", seen });
      const decisions = `${api}/epics/${epic}/decisions`;
      await attempt("decide, as JSON", () => text(decisions, { method: "POST", headers: { ...auth, "Content-Type": "application/json" }, body: body(1) }));
      await attempt("decide, as text", () => text(decisions, { method: "POST", mode: "no-cors", headers: { "Content-Type": "text/plain" }, body: body(2) }));
      await attempt("decide, by a beacon", async () => String(navigator.sendBeacon(decisions, new Blob([body(3)], { type: "text/plain" }))));
      return out;
    },
    { target, epic, token, seen, id },
  );

// byForm posts a form, as a link does that somebody clicks, and returns the answer's status.
async function byForm(page: Page, action: string, seen: number, id: string): Promise<number> {
  const answer = page.waitForResponse((r) => r.url() === action && r.request().method() === "POST");
  await page.evaluate(
    ({ action, seen, id }) => {
      const form = document.createElement("form");
      form.method = "POST";
      form.enctype = "text/plain";
      form.action = action;
      const field = document.createElement("input");
      field.name = `{"id": "${id}", "verb": "pause", "seen": ${seen}, "message": "`;
      field.value = `"}`;
      form.append(field);
      document.body.append(form);
      form.submit();
    },
    { action, seen, id },
  );
  await page.waitForURL(action); // it has taken the page's place
  return (await answer).status();
}

const pauses = async (repo: Repo) => (await repo.events()).filter((e) => e.kind === "decided" && e.data.verb === "pause");

const sent = "decide, by a beacon"; // the page is not told what came of it

test("a page of another port reads nothing and decides nothing; ralph's own does both", async ({ page, keep, quiet }) => {
  quiet.allow(/^error: /); // of all that the browser refuses
  const repo = await keep(night());
  await repo.ralph(3, "apply");
  const ui = await repo.ui();
  const token = ui.link.split("#t=")[1] ?? "";
  await page.goto(ui.link); // the same browser has ralph's page open
  await expect(heading(page)).toContainText("wait for you");
  const epic = (await epicOf(page, "A shop that can be trusted")).split("/")[2] ?? "";
  const before = await repo.events();
  const seen = before.at(-1)?.seq ?? 0;
  const decisions = (target: string) => `${target}api/v1/epics/${epic}/decisions`;

  const server = new Foreign();
  const address = await server.listen();
  const other = await page.context().newPage();
  try {
    await test.step("elsewhere: all of it works on the page's own origin", async () => {
      await other.goto(address);
      for (const [how, came] of Object.entries(await attack(other, address, epic, token, seen, "own"))) expect.soft(came, how).toMatch(/elsewhere|^open$|^true$/);
      expect(await byForm(other, decisions(address), seen, "own-form")).toBe(200);
      await expect.poll(() => server.posted.map((p) => /own-\w+/.exec(p)?.[0]).sort()).toEqual(["own-1", "own-2", "own-3", "own-form"]);
    });

    await test.step("elsewhere: none of it works on ralph's", async () => {
      await other.goto(address);
      const answered: string[] = [];
      other.on("response", (r) => r.url() === decisions(ui.address) && answered.push(`${r.request().method()} ${r.status()}`));
      for (const [how, came] of Object.entries(await attack(other, ui.address, epic, token, seen, "foreign"))) expect.soft(came, how).toBe(how === sent ? "true" : "refused");
      expect(await byForm(other, decisions(ui.address), seen, "foreign-form")).toBe(403);
      await expect(other.locator("body")).toContainText("this comes from another origin"); // the user is shown that, and no page
      expect(answered.filter((a) => a.startsWith("POST 2"))).toEqual([]);
    });
    expect(await repo.events()).toEqual(before);

    await test.step("on ralph's own page the same code reads and decides", async () => {
      const tried = await attack(page, ui.address, epic, token, seen, "same-origin");
      for (const credentials of ["omit", "include"]) {
        expect(tried[`page, ${credentials}`]).toMatch(/^200 .*<html/s);
        expect(tried[`epic, ${credentials}`]).toMatch(/^401 /); // nothing but the token lets anybody in
        expect(tried[`epic with the token, ${credentials}`]).toMatch(/^200 .*A shop that can be trusted/s);
      }
      expect(tried["stream"]).toMatch(/^200 ./);
      expect(tried["decide, as JSON"]).toMatch(/^200 .*paused/s);
      expect(tried["decide, as text"]).toMatch(/^401 /);
      expect(tried["iframe"]).toBe("refused"); // it lets nobody frame it
    });
    expect((await pauses(repo)).map((e) => e.data.id)).toEqual(["same-origin-1"]);
  } finally {
    await server.close();
  }
});
