import type { ReactNode } from "react";

// Who decides: the name that is claimed. It is kept in this browser, and offered again only
// where a decision is for that name: elsewhere nobody has to claim one.
const kept = "ralph.as";

export function asKept(approvers: string[]): string {
  try {
    const as = localStorage.getItem(kept) ?? "";
    return approvers.includes(as) ? as : "";
  } catch {
    return "";
  }
}

export function keepAs(as: string, approvers: string[]): void {
  if (!as.trim() && approvers.length === 0) return; // none had to be claimed
  try {
    localStorage.setItem(kept, as.trim());
  } catch {
    // it is typed again
  }
}

// person is how the server compares names.
export const person = (name: string): string => name.replace(/^@/, "").toLowerCase();

export function As({ value, onChange, user, only, wrong }: { value: string; onChange: (v: string) => void; user: string; only: string[]; wrong: boolean }) {
  const may = only.join(" or ");
  return (
    <>
      <label>
        <span>
          Decide as{may && ` (only ${may} may)`}; on record is {user || "the user"}, too
        </span>
        <input name="as" value={value} placeholder={user} list="approvers" aria-invalid={wrong || undefined} aria-describedby={wrong ? "who" : undefined} onChange={(e) => onChange(e.target.value)} autoComplete="off" spellCheck={false} />
        <datalist id="approvers">
          {only.map((a) => (
            <option key={a} value={a} />
          ))}
        </datalist>
      </label>
      {wrong && (
        <Wrong id="who">
          Only {may} may: whoever decides in that name writes it here.
        </Wrong>
      )}
    </>
  );
}

// Wrong says what a form lacks.
export function Wrong({ id, children }: { id: string; children: ReactNode }) {
  return (
    <p role="alert" id={id} className="status bad">
      <span aria-hidden="true" className="sign">
        !
      </span>
      <span>{children}</span>
    </p>
  );
}
