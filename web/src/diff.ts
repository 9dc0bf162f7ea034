// Reads unified diffs as git writes them. It believes the counts of a hunk, so that a line
// of a file that looks like a header is none.

export interface DiffLine {
  kind: "same" | "add" | "del" | "note";
  text: string; // without its sign
  was: number; // line number; 0: it has none
  is: number;
}

export interface Hunk {
  head: string; // "@@ -1,4 +1,6 @@ func main() {"
  lines: DiffLine[];
}

export interface DiffFile {
  path: string;
  from: string; // renamed: the old path, else ""
  notes: string[]; // header lines that say more than names
  hunks: Hunk[];
  added: number;
  removed: number;
  size: number; // lines of all hunks
}

const header = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;
const dull = /^(index |--- |\+\+\+ |rename |similarity |dissimilarity |copy )/;

export function parseDiff(patch: string): DiffFile[] {
  const files: DiffFile[] = [];
  let file: DiffFile | undefined;
  let hunk: Hunk | undefined;
  let was = 0;
  let is = 0;
  let oldLeft = 0;
  let newLeft = 0;
  const begin = (path: string) => {
    file = { path, from: "", notes: [], hunks: [], added: 0, removed: 0, size: 0 };
    files.push(file);
    hunk = undefined;
    oldLeft = newLeft = 0;
    return file;
  };
  const line = (kind: DiffLine["kind"], text: string) => {
    const old = kind === "same" || kind === "del";
    const fresh = kind === "same" || kind === "add";
    hunk?.lines.push({ kind, text, was: old ? was++ : 0, is: fresh ? is++ : 0 });
    if (old) oldLeft--;
    if (fresh) newLeft--;
    if (file) {
      file.size++;
      if (kind === "add") file.added++;
      if (kind === "del") file.removed++;
    }
  };
  for (const text of patch.split("\n")) {
    if (hunk && (oldLeft > 0 || newLeft > 0)) {
      if (text.startsWith("+")) line("add", text.slice(1));
      else if (text.startsWith("-")) line("del", text.slice(1));
      else if (text.startsWith("\\")) line("note", text.slice(2));
      else line("same", text.slice(1));
      continue;
    }
    if (text.startsWith("diff --git ")) {
      begin(nameOf(text));
      continue;
    }
    const at = header.exec(text);
    if (at) {
      hunk = { head: text, lines: [] };
      (file ?? begin("")).hunks.push(hunk);
      was = Number(at[1]);
      is = Number(at[3]);
      oldLeft = Number(at[2] ?? 1);
      newLeft = Number(at[4] ?? 1);
    } else if (text.startsWith("\\") && hunk) {
      line("note", text.slice(2));
    } else if (text !== "") {
      head(file ?? begin(""), text);
    }
  }
  return files;
}

// nameOf is the new name in "diff --git a/NAME b/NAME": the halves are the same, unless it
// was renamed, and then other lines say so.
function nameOf(text: string): string {
  const both = text.slice("diff --git ".length);
  const half = both.slice(both.length / 2 + 1);
  return half.replace(/^b\//, "");
}

function head(file: DiffFile, text: string): void {
  if (text.startsWith("+++ ") && !text.startsWith("+++ /dev/null")) file.path = path(text.slice(4), "b/");
  else if (text.startsWith("--- ") && !text.startsWith("--- /dev/null") && !file.path) file.path = path(text.slice(4), "a/");
  else if (text.startsWith("rename from ")) file.from = text.slice(12);
  else if (text.startsWith("rename to ")) file.path = text.slice(10);
  else if (!dull.test(text)) file.notes.push(text);
}

const path = (text: string, prefix: string): string => (text.startsWith(prefix) ? text.slice(prefix.length) : text).replace(/\t$/, "");
