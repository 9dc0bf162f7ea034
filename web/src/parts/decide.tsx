// Decisions: what can be decided now, the form, and what came of it.
import { useEffect, useRef, useState, type FormEvent } from "react";
import type { Decided, NextStep, Offer, Session } from "../api";
import { announce } from "../announce";
import { decide, Failure } from "../client";
import { rowAtHand, useKeys } from "../keys";
import { frozen } from "../frozen";
import { refresh, useResource } from "../resource";
import { settle } from "../route";
import { capital, count, firstLine } from "../words";
import { As, asKept, keepAs, person, Wrong } from "./as";
import { Command, Trouble } from "./basics";
import { useDir } from "./epictabs";

// Bound is what an approval is about, as it was shown.
export interface Bound {
  digest?: string;
  gate?: string;
  result?: string;
  base?: string;
}

export interface Subject {
  epic: string;
  key: string; // "": the whole run
  seq: number; // of what is shown
  moved?: number; // the event that changed it last: who has seen less decides about something else
  now?: string | undefined; // how it stands, in words
  offers: Offer[];
  bound?: (o: Offer) => Bound | undefined; // what an approval is about
  commitOf?: (result: string) => string | undefined; // that holds what an approval is about
  notYet?: string | undefined; // why nothing can be approved yet
  reload: string[]; // paths to ask anew when it has changed
}

// Form is a decision that is being made. It keeps what was shown when it was opened.
interface Form {
  offer: Offer;
  id: string;
  seen: number;
  bound: Bound | undefined;
}

const formOf = (offer: Offer, of: Subject): Form => ({ offer, id: crypto.randomUUID(), seen: of.seq, bound: of.bound?.(offer) });

const keyOf: Record<string, string> = { approve: "a", reject: "r", retry: "t", skip: "s" };
// doing names an offer in an address.
export const doing = (o: { verb: string; how?: string; tamper?: string }): string => [o.verb, o.how, o.tamper].filter(Boolean).join(".");

export const label = (o: Offer): string => capital(o.label);

// useReadOnly reports whether nothing can be decided on this page.
export const useReadOnly = (): boolean => useResource<Session>("/session").data?.read_only ?? false;

// Acts are links to the decisions that are worth making, in a row.
export function Acts({ offers, href, of }: { offers: Offer[]; href: (o: Offer) => string; of: string }) {
  if (useReadOnly()) return null;
  return (
    <span className="acts">
      {offers.map((o) => (
        <a key={doing(o)} className="act" data-verb={o.verb} href={href(o)} title={o.what}>
          {o.label}
          <span className="hidden"> {of}</span>
        </a>
      ))}
    </span>
  );
}

// ByHand lists the steps that no button here takes; what only looks, the page shows itself.
export function ByHand({ steps, offers, className }: { steps: NextStep[]; offers: Offer[]; className?: string }) {
  const readOnly = useReadOnly();
  const left = steps.filter((n) => (!n.way || n.way.verb === "apply") && !/^ralph (show|log|status|why) /.test(n.command));
  return left.map((n) => {
    const after = / then:$/.test(n.what) && steps.slice(steps.indexOf(n)).find((x) => x.way)?.way;
    const button = after && offers.find((o) => o.verb === after.verb && o.how === after.how);
    return (
      <p key={n.command} className={className}>
        {capital(n.what.replace(/(, then)?:$/, ""))}: <Command text={n.command} />
        {button && <> Then: {readOnly ? <Command text={button.command} /> : <strong>{label(button)}</strong>}</>}
      </p>
    );
  });
}

// What was typed stays until it was sent, also when the page is left.
interface Typed {
  message?: string;
  as?: string;
  budget?: string;
}
const typed = new Map<string, Typed>();

// Decisions tells onBusy whether a form, or what came of it, is shown.
export function Decisions({ subject, open, onBusy }: { subject: Subject; open?: string | undefined; onBusy?: (is: boolean) => void }) {
  const [form, setForm] = useState<Form | null>(null);
  const [done, setDone] = useState<Decided | null>(null);
  const session = useResource<Session>("/session").data;
  const decisions = subject.offers.filter((o) => o.verb !== "apply");
  const begin = (offer: Offer | undefined) => {
    if (!offer || session?.read_only) return false;
    setDone(null);
    setForm(formOf(offer, subject));
    return true;
  };
  const first = (verb: string) => {
    const those = decisions.filter((o) => o.verb === verb);
    const main = those.find((o) => o.main);
    return main || subject.key === "" ? main : (those.find((o) => !o.how) ?? those[0]); // a key is for what is worth doing about the run
  };
  const byKey = (verb: string) => () => !(subject.key === "" && rowAtHand()) && begin(first(verb)); // else it is about that row
  useKeys({ a: byKey("approve"), r: byKey("reject"), t: byKey("retry"), s: byKey("skip") });
  useEffect(() => {
    if (!open || !session) return;
    begin(decisions.find((o) => doing(o) === open) ?? first(open));
    settle("do");
  });
  useEffect(() => onBusy?.(form !== null || done !== null), [form, done]);
  if (session?.read_only) return <ReadOnly offers={decisions} epic={subject.epic} />;
  return (
    <div className="decide">
      {done && <Taken decided={done} />}
      {form ? (
        <DecideForm key={form.id} form={form} subject={subject} user={session?.user ?? ""} onClose={() => setForm(null)} onChanged={setForm} onDone={(d) => { setForm(null); setDone(d); }} />
      ) : (
        <Buttons offers={decisions} onOpen={begin} firstOf={first} />
      )}
    </div>
  );
}

function Buttons({ offers, onOpen, firstOf }: { offers: Offer[]; onOpen: (o: Offer) => void; firstOf: (verb: string) => Offer | undefined }) {
  if (offers.length === 0) return null;
  const some = offers.some((o) => o.main);
  const front = offers.filter((o) => (some ? o.main : !o.how));
  const rest = offers.filter((o) => !front.includes(o));
  const button = (o: Offer) => (
    <button key={`${o.verb} ${o.how ?? ""} ${o.tamper ?? ""}`} type="button" title={o.what} onClick={() => onOpen(o)} className={o.main ? "front" : ""}>
      {label(o)}
      {firstOf(o.verb) === o && keyOf[o.verb] && <kbd aria-hidden="true">{keyOf[o.verb]}</kbd>}
    </button>
  );
  return (
    <div className="buttons">
      {front.map(button)}
      {rest.length > 0 && (
        <details className="more">
          <summary>more</summary>
          <div className="buttons">{rest.map(button)}</div>
        </details>
      )}
    </div>
  );
}

function DecideForm(props: { form: Form; subject: Subject; user: string; onClose: () => void; onChanged: (f: Form) => void; onDone: (d: Decided) => void }) {
  const { form, subject, onClose } = props;
  const { offer } = form;
  const scope = `${subject.epic} ${subject.key}`;
  const [texts, setTexts] = useState<Typed>(typed.get(scope) ?? {});
  const only = offer.only ?? []; // may decide so
  const { message = "", as = asKept(only), budget = offer.budget ?? "" } = texts;
  const type = (what: Typed) => {
    const all = { ...texts, ...what };
    setTexts(all);
    typed.set(scope, all);
  };
  const [sending, setSending] = useState(false);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [refused, setRefused] = useState(false); // as stale, by the server
  const [empty, setEmpty] = useState(false); // what it needs to say was not said
  const [wrong, setWrong] = useState(false); // who decides may not
  const unnamed = only.length > 0 && !only.some((who) => person(who) === person(as.trim() || props.user));
  const id = useRef(form.id); // another one after a refusal: what is corrected is another decision
  const changed = refused || (!sending && changedSince(subject, form));
  const bound = useRef(form.bound); // what is shown first, where nothing was shown yet when the form was opened
  bound.current ??= subject.bound?.(offer);
  const ref = useRef<HTMLFormElement>(null);
  useKeys({ Escape: onClose });
  useEffect(() => {
    const form = ref.current;
    (form?.querySelector<HTMLElement>("textarea, input[name=budget]") ?? form?.querySelector<HTMLElement>(unnamed ? "input[name=as]" : "button.main"))?.focus();
    form?.scrollIntoView({ block: "nearest" });
    return () => document.querySelector("main")?.focus({ preventScroll: true });
  }, []);
  useSend(ref);
  const dir = useDir(subject.epic);
  const budgets = offer.verb === "resume";
  const blocked = offer.verb === "approve" && !offer.how && !bound.current ? subject.notYet : undefined;
  const send = async (e: FormEvent) => {
    e.preventDefault();
    if (sending || blocked || changed) return;
    if (offer.needs && message.trim() === "") {
      setEmpty(true);
      ref.current?.querySelector("textarea")?.focus();
      return;
    }
    if (unnamed) {
      setWrong(true);
      ref.current?.querySelector<HTMLElement>("input[name=as]")?.focus();
      return;
    }
    setSending(true);
    setFailure(null);
    keepAs(as, only);
    try {
      const body = { id: id.current, verb: offer.verb, seen: form.seen, ...filled({ how: offer.how, tamper: offer.tamper, message: offer.message ? message : "", as: as.trim(), budget: budgets ? budget.trim() : "" }), ...bound.current };
      const decided = await decide(subject.epic, subject.key, body);
      typed.delete(scope);
      announce(decided.text);
      props.onDone(decided);
    } catch (x) {
      setFailure(x instanceof Failure ? x : new Failure(0, { error: String(x), reason: "broken" }));
      setSending(false);
      if (x instanceof Failure && x.status >= 400 && x.status < 500) id.current = crypto.randomUUID();
      if (x instanceof Failure && x.status === 409) {
        setRefused(true);
        await Promise.all(subject.reload.map(refresh));
      }
    }
  };
  return (
    <form ref={ref} className="decideform" onSubmit={(e) => void send(e)} aria-label={label(offer)}>
      <h2>{label(offer)}</h2>
      <p>{offer.what}</p>
      {offer.message && (
        <label>
          <span>
            {capital(offer.text ?? "why")}
            {!offer.needs && ", or nothing"}
          </span>
          <textarea
            rows={3}
            value={message}
            aria-invalid={empty || undefined}
            aria-describedby={empty ? "needs" : undefined}
            onChange={(e) => {
              setEmpty(false);
              type({ message: e.target.value });
            }}
          />
          <Room text={message} />
        </label>
      )}
      {empty && <Wrong id="needs">{capital(offer.needs ?? "")}.</Wrong>}
      {budgets && (
        <label>
          <span>Add to the budget (usd=+20, tokens=+1M, wall=+1h), or nothing</span>
          <input name="budget" value={budget} onChange={(e) => type({ budget: e.target.value })} autoComplete="off" spellCheck={false} />
        </label>
      )}
      <As value={as} onChange={(as) => type({ as })} user={props.user} only={only} wrong={wrong && unnamed} />
      {failure && !changed && <Trouble failure={failure} />}
      {changed && <Changed subject={subject} form={form} refused={refused} why={failure?.fault.error ?? subject.now ?? ""} onLooked={props.onChanged} />}
      {blocked && <p className="faint">{blocked}</p>}
      <Counts bound={bound.current} commitOf={subject.commitOf} />
      <div className="buttons">
        <button type="submit" className="main" disabled={sending || changed || blocked !== undefined}>
          {sending ? "sending …" : `Send: ${offer.label}`}
          <kbd aria-hidden="true">Ctrl+Enter</kbd>
        </button>
        <button type="button" onClick={onClose}>
          Not now<kbd aria-hidden="true">Esc</kbd>
        </button>
      </div>
      <p className="faint terminal">
        At a terminal: <Command text={offer.command} />
        {dir && ` in ${dir}`}
      </p>
    </form>
  );
}

// Counts says for what alone an approval counts.
function Counts({ bound: b, commitOf }: { bound: Bound | undefined; commitOf: Subject["commitOf"] }) {
  if (!b) return null;
  const commit = b.result && commitOf?.(b.result);
  const [what, name] = commit ? ["commit", commit] : b.result ? ["the files of tree", b.result] : ["the plan with digest", b.digest?.replace(/^\w+:/, "")];
  if (!name) return null;
  return (
    <p>
      Counts for {what} <code>{name.slice(0, 12)}</code> only.
    </p>
  );
}

const same = (a: Offer, b: Offer): boolean => a.verb === b.verb && a.how === b.how && a.tamper === b.tamper;

// changedSince reports whether a form is about what is so no more: the stream has told it.
const changedSince = (subject: Subject, form: Form): boolean => (subject.moved ?? 0) > form.seen || !subject.offers.some((o) => same(o, form.offer));

// Changed: what was decided about is another state now. It is shown anew; the decision that
// follows is a new one, about that. Who still types keeps the focus.
function Changed({ subject, form, refused, why, onLooked }: { subject: Subject; form: Form; refused: boolean; why: string; onLooked: (f: Form) => void }) {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (refused) button.current?.focus();
  }, [refused]);
  const still = subject.offers.find((o) => same(o, form.offer));
  if (!still) {
    return (
      <div role="alert">
        <p className="status asks">It has changed since it was shown, and this can no longer be decided. What you typed is kept.</p>
        <p className="faint">{firstLine(why)}</p>
      </div>
    );
  }
  const look = () => onLooked(formOf(still, subject));
  return (
    <div role="alert">
      <p className="status asks">
        <span aria-hidden="true" className="sign">
          !
        </span>
        <span>It has changed since it was shown.</span>
      </p>
      <p>The page shows it as it is now, and what you typed is kept.</p>
      <p className="faint">{firstLine(why)}</p>
      <button type="button" ref={button} onClick={look}>
        I have looked: decide about this state
      </button>
    </div>
  );
}

const room = 2000; // bytes of a message (executor.MaxNote)

function Room({ text }: { text: string }) {
  const left = room - new TextEncoder().encode(text).length;
  if (left > 300) return null;
  return <span className={left < 0 ? "status bad" : "faint"}>{left < 0 ? `${count(-left, "byte")} too long` : `${count(left, "byte")} left`}</span>;
}

function Taken({ decided }: { decided: Decided }) {
  return (
    <div role="status" className="taken">
      <p>
        <strong>{decided.taken ? "Decided: " : "Sent, and not read yet: "}</strong>
        {decided.text}
      </p>
      {decided.command && (
        <p>
          No apply is at work. To go on: <Command text={decided.command} /> <span className="faint">in {decided.dir}</span>
        </p>
      )}
      <p className="faint">
        On record as {decided.user}
        {decided.by && decided.by !== decided.user && `, who says to be ${decided.by}`}.
      </p>
    </div>
  );
}

function ReadOnly({ offers, epic }: { offers: Offer[]; epic: string }) {
  const dir = useDir(epic);
  const why = frozen ? "This is a report." : "This page only reads (--read-only).";
  if (offers.length === 0) return <p className="faint">{why}</p>;
  return (
    <details className="faint">
      <summary>
        {why} What can be decided at a terminal{dir && ` in ${dir}`}
      </summary>
      <ul className="plain">
        {offers.map((o) => (
          <li key={o.command}>
            <Command text={o.command} /> {o.what}
          </li>
        ))}
      </ul>
    </details>
  );
}

// useSend sends the form with Ctrl+Enter, wherever the focus is.
function useSend(ref: React.RefObject<HTMLFormElement | null>): void {
  useEffect(() => {
    const press = (e: KeyboardEvent) => {
      if (e.key !== "Enter" || !(e.ctrlKey || e.metaKey) || e.defaultPrevented) return;
      e.preventDefault();
      ref.current?.requestSubmit();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [ref]);
}

function filled(of: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(Object.entries(of).filter((e): e is [string, string] => Boolean(e[1])));
}

