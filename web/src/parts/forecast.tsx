import type { Forecast } from "../api";
import { lasted } from "../words";

export function Forecasted({ of }: { of: Forecast | null | undefined }) {
  if (!of) return null;
  return (
    <p>
      About {lasted(of.p50_ms)} more, hardly over {lasted(of.p90_ms)}, with {of.slots} at a time. <span className="faint">{of.note}</span>
    </p>
  );
}
