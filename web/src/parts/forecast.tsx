import type { Epic } from "../api";
import { capital, lasted } from "../words";

// Forecasted says how long the rest may take, or what nothing moves without.
export function Forecasted({ of: e }: { of: Epic }) {
  if (e.stuck) return <p className="asks">{capital(e.stuck)}.</p>;
  const f = e.forecast;
  if (!f) return null;
  const [about, most] = [lasted(f.p50_ms), lasted(f.p90_ms)];
  return (
    <p>
      About {about} more{most !== about && `, hardly over ${most}`}, with {f.slots} at a time. <span className="faint">{f.note}</span>
    </p>
  );
}
