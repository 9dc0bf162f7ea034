// The lines of a log, in blocks: the browser skips drawing those that are not in sight, so
// that 200,000 lines cost no more than a screen of them.
import { plainLine } from "./reveal";

const block = 200;
const most = 500_000; // lines; a higher element is cut by browsers

export class Lines {
  blocks: string[] = [];
  count = 0;
  dropped = 0; // oldest lines that are shown no more
  version = 0;
  private lastSize = 0; // lines of the last block
  private readonly watchers = new Set<() => void>();
  private planned = false;

  append(lines: string[]): void {
    for (const line of lines) {
      const last = this.blocks.length - 1;
      if (last >= 0 && this.lastSize < block) {
        this.blocks[last] += `\n${plainLine(line)}`;
        this.lastSize++;
      } else {
        this.blocks.push(plainLine(line));
        this.lastSize = 1;
      }
    }
    this.count += lines.length;
    while (this.count > most && this.blocks.length > 1) {
      this.blocks.shift();
      this.count -= block;
      this.dropped += block;
    }
    this.changed();
  }

  prepend(lines: string[]): void {
    const blocks: string[] = [];
    for (let i = 0; i < lines.length; i += block) blocks.push(lines.slice(i, i + block).map(plainLine).join("\n"));
    if (this.blocks.length === 0) this.lastSize = lines.length % block || block;
    this.blocks = [...blocks, ...this.blocks];
    this.count += lines.length;
    this.changed();
  }

  readonly watch = (tell: () => void): (() => void) => {
    this.watchers.add(tell);
    return () => this.watchers.delete(tell);
  };
  readonly get = (): number => this.version;

  // changed tells at most once a frame.
  private changed(): void {
    if (this.planned) return;
    this.planned = true;
    setTimeout(() => {
      this.planned = false;
      this.version++;
      for (const tell of this.watchers) tell();
    }, 16);
  }
}

// wholeLines splits a piece of a file, which may begin in the middle of a line. skipped is
// how many bytes of that line there are.
export function wholeLines(bytes: Uint8Array, fromStart: boolean): { lines: string[]; skipped: number } {
  const skipped = fromStart ? 0 : bytes.indexOf(10) + 1;
  const lines = new TextDecoder().decode(bytes.subarray(skipped)).split("\n");
  if (lines[lines.length - 1] === "") lines.pop();
  return { lines, skipped };
}
