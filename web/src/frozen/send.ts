// Answers from the report itself.
import { find } from "./data";

// missing says why the report has no answer, and what takes it in.
function missing(path: string): object {
  const kind = /\/diff$/.test(path) ? "diffs" : /\/plan$|\.(prompt|feedback)\.md$/.test(path) ? "prompts" : /\/files(\/|$)/.test(path) ? "prompts,logs" : "";
  if (kind) return { error: "This is not in the report.", hint: `ralph report --with ${kind} takes it in, if there is room.`, reason: "unknown" };
  return { error: "This was left out to keep the report small.", hint: "ralph ui shows it.", reason: "unknown" };
}

// send is what the server answered when the report was made.
export async function send(path: string, init: { headers: Record<string, string> }): Promise<Response> {
  const said = await find(path);
  if (said === undefined) return new Response(JSON.stringify(missing(path)), { status: 404 });
  if (said.startsWith("!")) return new Response(said.slice(1), { status: 404 });
  if (!/\/files\//.test(path)) return new Response(said);
  const bytes = new TextEncoder().encode(JSON.parse(said) as string);
  const range = /^bytes=(\d+)-(\d+)$/.exec(init.headers["Range"] ?? "");
  if (!range) return new Response(bytes);
  const from = Number(range[1]);
  if (from >= bytes.length) return new Response(null, { status: 416 });
  const part = bytes.slice(from, Number(range[2]) + 1);
  return new Response(part, { status: 206, headers: { "Content-Range": `bytes ${from}-${from + part.length - 1}/${bytes.length}` } });
}
