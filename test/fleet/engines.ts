// engines: what can hand out orders, by name.

import { connect } from "../../src/fleet/postgres/connect.ts";
import { openOrders } from "../../src/fleet/postgres/orders.ts";
import type { Dispatch } from "../../src/ports/dispatch.ts";

export function openEngine(name: string, url: string, leaseMs: number): Promise<Dispatch> {
  if (name === "sql") return Promise.resolve(openOrders(connect(url, { answerMs: 2_000 }), { leaseMs }));
  throw new Error(`there is no engine ${name}`);
}
