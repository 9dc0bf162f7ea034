// Nothing happens in a report.
import type { Entry } from "../api";
import { Store } from "../store";
import type { LinkState } from "../stream";

export const link = new Store<LinkState>("open");
export const refused = new Store("");

const never = () => () => undefined;
export const onEntries: (tell: (entries: Entry[]) => void) => () => void = never;
export const onReset: (tell: () => void) => () => void = never;
export const goLive = (): void => undefined;
