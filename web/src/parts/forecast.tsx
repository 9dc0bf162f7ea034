import type { Epic } from "../api";
import { capital, lasted } from "../words";

// Forecasted says how long the rest may take, or what nothing moves without.
export function Forecasted({ of: e }: { of: Epic }) {
  if (e.stuck) return <p className="asks">{capital(e.stuck)}.</p>;
  const f = e.forecast;
  if (!f) return null;
  return (
    <p>
      About {lasted(f.p50_ms)} more, hardly over {lasted(f.p90_ms)}, with {f.slots} at a time. <span className="faint">{f.note}</span>
    </p>
  );
}
