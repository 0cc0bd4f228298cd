// engines: what can hand out orders, by name. Those that need packages of their own are used where they were fetched (scripts/engines.mjs).

import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { connect } from "../../src/fleet/postgres/connect.ts";
import { openOrders } from "../../src/fleet/postgres/orders.ts";
import type { Dispatch } from "../../src/ports/dispatch.ts";
import { openGraphileOrders } from "./graphile-orders.ts";

const folder = join(process.env["AUTOPILOT_ENGINES"] ?? join(homedir(), ".cache/autopilot/engines"), "graphile-worker");

/** For a suite's title: why it isn't held to an engine here. */
export const withoutEngine = (name: string): string =>
  name !== "graphile-worker" || existsSync(join(folder, "node_modules/graphile-worker/package.json"))
    ? ""
    : " (skipped: node scripts/engines.mjs graphile-worker fetches it)";

export function openEngine(name: string, url: string, leaseMs: number): Promise<Dispatch> {
  if (name === "sql") return Promise.resolve(openOrders(connect(url, { answerMs: 2_000 }), { leaseMs }));
  if (name === "graphile-worker") return openGraphileOrders(folder, url, leaseMs);
  throw new Error(`there is no engine ${name}`);
}
