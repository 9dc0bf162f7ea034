// The tabs of a sprint that show files of its attempts, and where its values come from.
import { Fragment } from "react";
import type { Diff, FileList, Why } from "../api";
import { frozen } from "../frozen";
import { Loaded, Trouble } from "../parts/basics";
import { DiffView } from "../parts/diff";
import { LogWithFind } from "../parts/logfind";
import { useResource, useText } from "../resource";
import { api, go, to, type Tab } from "../route";
import { bytes, each } from "../words";
import { nameOf } from "./sprint_attempts";
import type { TabProps } from "./sprint";

interface Chosen {
  step: string;
  number: number;
}

// chosen is the attempt that the address names, else what is being written, else the last.
function chosen({ s, query }: TabProps): Chosen | undefined {
  const all = each(s.show.attempts);
  const named = all.find((a) => nameOf(a) === query.get("attempt"));
  return named ?? (s.tail ? { step: s.tail.step, number: s.tail.attempt } : all[all.length - 1]);
}

function Choose({ of, epic, tab, at, also }: { of: TabProps["s"]; epic: string; tab: Tab; at: string; also?: string }) {
  const names = each(of.show.attempts).map(nameOf).reverse();
  if (names.length + (also ? 1 : 0) < 2) return null;
  return (
    <label className="choose">
      Attempt{" "}
      <select value={at} onChange={(e) => go(to.sprint(epic, of.show.key, tab, e.target.value ? { attempt: e.target.value } : {}))}>
        {also && <option value="">{also}</option>}
        {names.map((n) => (
          <option key={n} value={n}>
            {n.replace("/", " #")}
          </option>
        ))}
      </select>
    </label>
  );
}

export function DiffTab(props: TabProps) {
  const { s, epic, query } = props;
  const named = query.get("attempt") ? chosen(props) : undefined;
  const against = (!frozen && named && query.get("against")) || "";
  const path = named ? `${api.attempt(epic, s.show.key, named.step, named.number)}/diff${against && `?against=${encodeURIComponent(against)}`}` : `${api.sprint(epic, s.show.key)}/diff`;
  const none = each(s.show.attempts).length === 0;
  const diff = useResource<Diff>(none ? null : path);
  if (none) return <p>It has changed nothing yet.</p>;
  return (
    <>
      <div className="facts">
        <Choose of={s} epic={epic} tab="diff" at={named ? nameOf(named) : ""} also="the sprint as it stands" />
        {named && !frozen && <Against of={s} epic={epic} named={named} at={against} />}
      </div>
      <Loaded of={diff} what="The diff">
        {(d) => <DiffView diff={d} path={path} />}
      </Loaded>
    </>
  );
}

// Against chooses what an attempt is compared with; a report has only what it began with.
function Against({ of, epic, named, at }: { of: TabProps["s"]; epic: string; named: Chosen; at: string }) {
  const others = each(of.show.attempts).filter((a) => a.step === named.step && a.number !== named.number);
  if (others.length === 0) return null;
  return (
    <label className="choose">
      Against{" "}
      <select value={at} onChange={(e) => go(to.sprint(epic, of.show.key, "diff", { attempt: nameOf(named), ...(e.target.value && { against: e.target.value }) }))}>
        <option value="">what it began with</option>
        {(named.number > 1 || at === "start") && <option value="start">the base of {named.step}</option>}
        {others.map((a) => (
          <option key={a.number} value={a.number}>
            {a.step} #{a.number}
          </option>
        ))}
      </select>
    </label>
  );
}

export function LogTab(props: TabProps) {
  const { s, epic, query } = props;
  const at = chosen(props);
  const files = useResource<FileList>(at ? `${api.attempt(epic, s.show.key, at.step, at.number)}/files` : null);
  if (!at) return <p>Nobody has tried it yet.</p>;
  const tail = s.tail?.file && s.tail.step === at.step && s.tail.attempt === at.number ? s.tail : null;
  return (
    <Loaded of={files} what="The list of files">
      {(list) => {
        const all = each(list.files);
        const logs = all.filter((f) => f.what === "log");
        const file = query.get("file") ?? tail?.file ?? (logs.find((f) => f.size > 0) ?? logs[0] ?? all[0])?.name;
        if (!file) return <p>This attempt has written nothing.</p>;
        return (
          <>
            <div className="facts">
              <Choose of={s} epic={epic} tab="log" at={nameOf(at)} />
              <label className="choose">
                File{" "}
                <select value={file} onChange={(e) => go(to.sprint(epic, s.show.key, "log", { attempt: nameOf(at), file: e.target.value }))}>
                  {!all.some((f) => f.name === file) && <option value={file}>{file}</option>}
                  {all.map((f) => (
                    <option key={f.name} value={f.name}>
                      {f.name} ({bytes(f.size)})
                    </option>
                  ))}
                </select>
              </label>
            </div>
            <LogWithFind epic={epic} sprint={s.show.key} step={at.step} attempt={at.number} file={file} live={tail?.file === file} />
          </>
        );
      }}
    </Loaded>
  );
}

export function PromptTab(props: TabProps) {
  const { s, epic } = props;
  const at = chosen(props);
  const files = useResource<FileList>(at ? `${api.attempt(epic, s.show.key, at.step, at.number)}/files` : null);
  const name = each(files.data?.files).find((f) => f.what === "prompt")?.name;
  const text = useText(at && name ? api.file(epic, s.show.key, at.step, at.number, name) : null);
  const spec = s.show.spec;
  return (
    <>
      {at && <Choose of={s} epic={epic} tab="prompt" at={nameOf(at)} />}
      {files.failure && <Trouble failure={files.failure} what="Prompts" />}
      {at && name ? (
        <Loaded of={text} what={name}>
          {(t) => (
            <>
              <p className="faint">
                What {nameOf(at).replace("/", " #")} was told, in <code>{name}</code>
              </p>
              <pre className="text">{t}</pre>
            </>
          )}
        </Loaded>
      ) : files.failure ? null : (
        <>
          <p className="faint">As the plan says it{s.show.plan && `, in ${s.show.plan}${s.show.plan_line ? `:${s.show.plan_line}` : ""}`}; no agent was asked yet.</p>
          <pre className="text">{each(spec?.prompt).join("\n")}</pre>
        </>
      )}
    </>
  );
}

// Parted is a text that may go on in the next line behind the parts of a path or, with dots, of
// a name.
function Parted({ text, dots }: { text: string; dots?: boolean }) {
  return text.split(dots ? /(?<=[._])/ : /(?<=\/)/).map((part, i) => (
    <Fragment key={i}>
      {i > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}

export function WhyTab({ s, epic }: TabProps) {
  const why = useResource<Why>(`${api.sprint(epic, s.show.key)}/why`);
  return (
    <Loaded of={why} what="Where its values come from">
      {(w) => (
        <div className="wide reasons">
          <table>
            <thead>
              <tr>
                <th scope="col">value of</th>
                <th scope="col">is</th>
                <th scope="col">because of</th>
              </tr>
            </thead>
            <tbody>
              {each(w.reasons).map((r, i) => (
                <tr key={`${r.field} ${i}`}>
                  <th scope="row">
                    <code>
                      <Parted text={r.field} dots />
                    </code>
                  </th>
                  <td className="said">
                    <Parted text={r.value} />
                  </td>
                  <td>
                    {r.origin}
                    {r.range?.file && (
                      <span className="faint">
                        {" "}
                        <Parted text={r.range.file} />
                        {r.range.from && `:${r.range.from.line}`}
                      </span>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Loaded>
  );
}
