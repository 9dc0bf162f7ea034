// What a report says about itself.
import type { Frozen } from "../frozen";
import { about } from "./data";

export const frozen: Frozen | null = { at: Date.parse(about.at), omitted: about.omitted };
