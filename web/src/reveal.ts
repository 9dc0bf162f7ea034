// What others have written (agents, plans, logs) may hold characters that do not show, or
// that change how others are shown. They are written as escapes, as ralph's commands do
// (internal/reveal).

const hides =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\ufe00-\ufe0d\u{e0100}-\u{e01ef}\u180b-\u180d\u180f\p{Cf}\p{Zl}\p{Zp}]|\p{Cs}/gu;
const joiner = /^[\u200c\u200d]$/;
const joins =
  /(?:\ufe0f|(?![\u0000-\u007f])[\p{So}\p{Sk}]|[\p{sc=Arab}\p{sc=Syrc}\p{sc=Mong}\p{sc=Deva}\p{sc=Beng}\p{sc=Guru}\p{sc=Gujr}\p{sc=Orya}\p{sc=Taml}\p{sc=Telu}\p{sc=Knda}\p{sc=Mlym}\p{sc=Sinh}\p{sc=Khmr}\p{sc=Mymr}\p{sc=Tibt}])$/u;

function escape(c: string): string {
  const n = c.codePointAt(0) ?? 0;
  if (n < 0x80) return `\\x${n.toString(16).padStart(2, "0")}`;
  if (n > 0xffff) return `\\U${n.toString(16).padStart(8, "0")}`;
  return `\\u${n.toString(16).padStart(4, "0")}`;
}

// reveal leaves the joiners that scripts and emoji need; strict, for diffs, leaves none.
export function reveal(text: string, strict = false): string {
  return text.replace(hides, (c, at: number) => {
    if (!strict && joiner.test(c) && joins.test(text.slice(Math.max(0, at - 2), at))) return c;
    return escape(c);
  });
}

const colours = /\u001b\[[0-9;:]*m/g;

// plainLine is a line of a program's output: without colours, and with the rest revealed.
// The return of a DOS line is dropped.
export function plainLine(line: string): string {
  return reveal(line.replace(/\r$/, "").replace(colours, ""));
}

// webAddress returns an address that a link may have, or "".
export function webAddress(url: string | undefined): string {
  if (!url || !/^https?:\/\//i.test(url) || !URL.canParse(url)) return "";
  return new URL(url).href;
}
