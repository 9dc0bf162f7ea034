// The answers that a report holds: parts of gzip and base64 in the page, each with lines of a
// path below /api/v1, a space, and the answer; or ! and why there is none.

interface About {
  at: string;
  omitted: string[];
  parts: Record<string, number[]>; // by sprint; what is about no sprint is in part 0
}

export const about = JSON.parse(document.getElementById("about")?.textContent ?? "{}") as About;

const sprints = new Map(Object.entries(about.parts));
const parts = new Map<number, Promise<Map<string, string>>>();

// find is an answer, if the report has it.
export async function find(path: string): Promise<string | undefined> {
  const sprint = /\/nodes\/([^/?]+)/.exec(path)?.[1] ?? /[?&]key=([^&]+)/.exec(path)?.[1];
  for (const at of sprint === undefined ? [0] : (sprints.get(decodeURIComponent(sprint)) ?? [])) {
    let part = parts.get(at);
    if (!part) parts.set(at, (part = read(at)));
    const said = (await part).get(path);
    if (said !== undefined) return said;
  }
  return undefined;
}

async function read(at: number): Promise<Map<string, string>> {
  const packed = atob((document.getElementById(`part${at}`)?.textContent ?? "").trim());
  const bytes = Uint8Array.from(packed, (c) => c.charCodeAt(0));
  const text = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  const out = new Map<string, string>();
  for (const line of text.split("\n")) {
    const cut = line.indexOf(" ");
    if (cut > 0) out.set(line.slice(0, cut), line.slice(cut + 1));
  }
  return out;
}
