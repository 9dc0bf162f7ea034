// Whether this page is a report: a run as it was. src/frozen says so in the build of reports.

// Frozen is what a report says about itself.
export interface Frozen {
  at: number; // when it was made, in ms since 1970
  omitted: string[]; // what is not in it, and why
}

export const frozen: Frozen | null = null as Frozen | null;
