import { each, named } from "../words";

// Holds names what a sprint holds up, and what can begin once it is approved.
export function Holds({ of }: { of: { holds: number; behind: string[] | null; begin?: string[] | null } }) {
  const begin = each(of.begin);
  const rest = of.holds - begin.length;
  if (begin.length > 0) {
    return (
      <span>
        then {named(begin, begin.length)} can begin{rest > 0 && `; ${rest} more ${rest === 1 ? "waits" : "wait"} behind it`}
      </span>
    );
  }
  return of.holds > 0 ? <span>holds up {named(each(of.behind), of.holds)}</span> : null;
}
