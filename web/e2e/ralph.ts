// Real ralph processes, in repositories that are made for a test.
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const here = dirname(fileURLToPath(import.meta.url));
export const root = resolve(here, "../..");
const binary = process.env["RALPH"] ?? join(root, "ralph");

// Program is a process that is ended when the test ends, if it is not over by then.
export class Program {
  out = "";
  readonly over: Promise<number>; // the exit code; -1 if a signal ended it
  private running = true;
  private readonly process: ChildProcess;

  constructor(process: ChildProcess) {
    this.process = process;
    process.stdout?.setEncoding("utf8").on("data", (s: string) => (this.out += s));
    process.stderr?.setEncoding("utf8").on("data", (s: string) => (this.out += s));
    this.over = new Promise((done) => {
      process.on("close", (code) => {
        this.running = false;
        done(code ?? -1);
      });
    });
  }

  // says waits until it has printed something that matches.
  async says(what: RegExp, patience = 30_000): Promise<RegExpExecArray> {
    for (const end = Date.now() + patience; ; ) {
      const found = what.exec(this.out);
      if (found) return found;
      if (!this.running || Date.now() > end) throw new Error(`it never said ${what}:\n${this.out}`);
      await new Promise((done) => setTimeout(done, 25));
    }
  }

  // kill ends it at once, as a crash does.
  async kill(): Promise<void> {
    if (this.running) this.process.kill("SIGKILL");
    await this.over;
  }

  // stop asks it to end, twice, and insists in the end.
  async stop(): Promise<void> {
    if (!this.running) return;
    this.process.kill("SIGINT");
    this.process.kill("SIGTERM");
    const late = setTimeout(() => this.process.kill("SIGKILL"), 10_000);
    await this.over;
    clearTimeout(late);
  }
}

// UI is a page's server.
export interface UI {
  program: Program;
  link: string; // with the token
  address: string; // without
  port: string;
}

// Status is what tests read of `ralph status --json`.
export interface Status {
  run: { state: string; draining?: string; held?: string; held_detail?: string; plan_approved: boolean; budget: { usd_micro: number; wall_ms: number } };
  nodes: { key: string; id: string; status: string; reason?: string }[];
}

// Event is one of the journal.
export interface Event {
  seq: number;
  kind: string;
  node?: string;
  data: { id?: string; verb?: string; from?: string; user?: string; message?: string; budget?: unknown; digest?: string };
}

// Repo is a repository with an epic. The agents of some work until release is called.
export class Repo {
  readonly top: string;
  readonly dir: string;
  private readonly env: Record<string, string>;
  private readonly programs: Program[] = [];
  private readonly hold: string;

  private constructor(top: string, name: string) {
    this.top = top;
    this.dir = join(top, name);
    this.hold = join(top, "hold");
    const passed = ["PATH", "TMPDIR", "LANG", "GOCACHE", "GOROOT"].flatMap((k) => (process.env[k] ? [[k, process.env[k]]] : []));
    this.env = {
      ...(Object.fromEntries(passed) as Record<string, string>),
      HOME: top,
      HOLD: this.hold,
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_AUTHOR_NAME: "t",
      GIT_AUTHOR_EMAIL: "t@example.org",
      GIT_COMMITTER_NAME: "t",
      GIT_COMMITTER_EMAIL: "t@example.org",
    };
  }

  // make copies a directory, lets change alter the copy, and compiles its plan. With held,
  // agents that look at $HOLD wait for release.
  static async make(name: string, from: string, plan: string, change: (dir: string) => void = () => undefined, held = false): Promise<Repo> {
    const r = new Repo(realpathSync(mkdtempSync(join(tmpdir(), "ralph-e2e-"))), name);
    try {
      cpSync(from, r.dir, { recursive: true });
      change(r.dir);
      if (held) writeFileSync(r.hold, "");
      r.env["GOCACHE"] ??= (await run("go", ["env", "GOCACHE"])).stdout.trim();
      await r.git("init", "-q", "-b", "main", ".");
      await r.git("add", "-A");
      await r.git("commit", "-q", "-m", "the skeleton");
      await r.ralph(0, "compile", plan);
      await r.git("add", "-A");
      await r.git("commit", "-q", "-m", "the plan");
    } catch (x) {
      await r.end();
      throw x;
    }
    return r;
  }

  async git(...args: string[]): Promise<string> {
    return (await run("git", args, { cwd: this.dir, env: this.env })).stdout;
  }

  // ralph runs a command that ends with a code, and returns what it printed.
  async ralph(code: number, ...args: string[]): Promise<string> {
    const p = this.start(...args);
    const got = await p.over;
    if (got !== code) throw new Error(`ralph ${args.join(" ")}: exit code ${got}, not ${code}\n${p.out}`);
    return p.out;
  }

  // status is what `ralph status --json` says.
  async status(): Promise<Status> {
    return JSON.parse(await this.ralph(0, "status", "--json")) as Status;
  }

  // events is the journal.
  async events(): Promise<Event[]> {
    return (await this.ralph(0, "log", "--json")).split("\n").filter(Boolean).map((line) => JSON.parse(line) as Event);
  }

  // start starts a command that goes on.
  start(...args: string[]): Program {
    const p = new Program(spawn(binary, args, { cwd: this.dir, env: this.env, stdio: ["ignore", "pipe", "pipe"] }));
    this.programs.push(p);
    return p;
  }

  // ui serves the page.
  async ui(...args: string[]): Promise<UI> {
    const program = this.start("ui", "--no-open", ...args);
    const [link, address, port] = await program.says(/^(http:\/\/127\.0\.0\.1:(\d+)\/)#t=\S+$/m).then((m) => [m[0], m[1] ?? "", m[2] ?? ""]);
    return { program, link: link ?? "", address: address ?? "", port: port ?? "" };
  }

  // release lets agents go on that wait.
  release(): void {
    rmSync(this.hold, { force: true });
  }

  // end ends what still runs, the last first, and removes everything.
  async end(): Promise<void> {
    this.release();
    for (const p of this.programs.reverse()) await p.stop();
    rmSync(this.top, { recursive: true, force: true, maxRetries: 5 });
  }
}

// night is the repository of ../testdata/night: 1.1 becomes done, 1.2 is blocked by a gate,
// 2.1 and 2.2 wait for ada.
export const night = (change?: (dir: string) => void, held = false): Promise<Repo> => Repo.make("shop", join(here, "../testdata/night"), "plan.md", change, held);

// demo is the repository of `make demo`, where ada has to look at 1.1 and 1.3.
export const demo = (): Promise<Repo> =>
  Repo.make("links", join(root, "examples/demo/project"), "plans/links.md", (dir) => {
    edit(join(dir, "plans/links.md"), (plan) => plan.replace(/^### Sprint 1\.[13]:.*$/gm, "$&\n\n**Policy**: looked-at"));
    edit(join(dir, "ralph.hcl"), (policy) => {
      const own = /^policy "default" \{\n {2}default = true\n\n([\s\S]*?)^\}\n/m.exec(policy)?.[1] ?? "";
      const gates = own.replace("gate.qa]", "gate.qa, gate.sign-off]");
      return `${policy}\ngate "sign-off" {\n  kind      = "human"\n  approvers = ["ada"]\n}\n\npolicy "looked-at" {\n${gates}}\n`;
    });
  });

// edit changes a file; one that stays as it was is a mistake of the test.
export function edit(file: string, change: (text: string) => string): void {
  const was = readFileSync(file, "utf8");
  const is = change(was);
  if (is === was) throw new Error(`nothing was changed in ${file}`);
  writeFileSync(file, is);
}
