// What the page of the address will ask for is asked for at once, beside making the page.
import { ahead } from "./resource";
import { api, currentRoute } from "./route";

export function begin(): void {
  const route = currentRoute();
  if (route.page !== "graph") return;
  ahead(api.graph(route.epic));
  ahead(api.status(route.epic));
  const parts = [import("./pages/graph")] as Promise<unknown>[];
  if (!matchMedia("(max-width: 40rem)").matches) parts.push(import("./graph/picture"));
  Promise.all(parts).catch(() => undefined); // a failure shows where the part would
}
