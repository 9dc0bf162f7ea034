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

// Part is some of a line: a hit, by its byte in the file, or what is between; then hit is -1.
export interface Part {
  text: string;
  hit: number;
}

export interface NumberedLine {
  number: number; // from 1; 0: it began before
  at: number; // byte of the file
  parts: Part[];
}

interface Hit {
  at: number;
  length: number;
  line: number;
}

// lineBegin is how much of a piece of a file belongs to a line that began before it; nothing
// if that is the line of the byte at, of which then the whole characters are shown.
export function lineBegin(bytes: Uint8Array, from: number, at: number): number {
  if (from === 0) return 0;
  const skipped = bytes.indexOf(10) + 1;
  if (skipped > 0 && from + skipped <= at) return skipped;
  let i = 0;
  while (i < 3 && ((bytes[i] ?? 0) & 0xc0) === 0x80) i++;
  return i;
}

// linesAround are the lines of a piece of a file that begins at from, in which the line of
// one hit, known, is known, with those of the hits that are in it. A line that is cut at the
// end of the piece is left out, unless it is all there is.
export function linesAround(bytes: Uint8Array, from: number, last: boolean, known: Hit, hits: Hit[]): NumberedLine[] {
  const begin = lineBegin(bytes, from, known.at);
  const whole = last ? bytes.length : bytes.lastIndexOf(10) + 1;
  const end = from + whole > known.at ? whole : bytes.length;
  let number = known.line;
  for (let i = bytes.indexOf(10, begin); i >= 0 && i < known.at - from; i = bytes.indexOf(10, i + 1)) number--;
  const sorted = hits.filter((h) => h.at >= from + begin && h.at + h.length <= from + end).sort((a, b) => a.at - b.at);
  const decoder = new TextDecoder();
  const out: NumberedLine[] = [];
  let k = 0;
  for (let at = begin; at < end; number++) {
    const next = bytes.indexOf(10, at);
    const stop = next < 0 || next > end ? end : next;
    const parts: Part[] = [];
    const part = (a: number, b: number, hit: number) => b > a && parts.push({ text: decoder.decode(bytes.subarray(a, b)), hit });
    let done = at;
    for (let h = sorted[k]; h && h.at - from < stop; h = sorted[++k]) {
      part(done, h.at - from, -1);
      part(h.at - from, h.at - from + h.length, h.at);
      done = h.at - from + h.length;
    }
    part(done, stop, -1);
    out.push({ number, at: from + at, parts });
    at = stop + 1;
  }
  return out;
}
