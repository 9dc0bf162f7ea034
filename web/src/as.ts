// The name that is claimed in "decide as". It is kept in this browser, and offered again only
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
