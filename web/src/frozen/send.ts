// Answers from the report itself.
import { find } from "./data";

const missing = { error: "This is not in the report.", hint: "ralph report --with prompts,logs,diffs takes them in.", reason: "unknown" };

// send is what the server answered when the report was made.
export async function send(path: string, init: { headers: Record<string, string> }): Promise<Response> {
  const said = await find(path);
  if (said === undefined) return new Response(JSON.stringify(missing), { status: 404 });
  if (!/\/files\//.test(path)) return new Response(said);
  const bytes = new TextEncoder().encode(JSON.parse(said) as string);
  const range = /^bytes=(\d+)-(\d+)$/.exec(init.headers["Range"] ?? "");
  if (!range) return new Response(bytes);
  const from = Number(range[1]);
  if (from >= bytes.length) return new Response(null, { status: 416 });
  const part = bytes.slice(from, Number(range[2]) + 1);
  return new Response(part, { status: 206, headers: { "Content-Range": `bytes ${from}-${from + part.length - 1}/${bytes.length}` } });
}
