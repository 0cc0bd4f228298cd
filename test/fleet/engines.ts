// engines: what can hand out orders, by name. Those that need packages of their own are used where
// they were fetched (scripts/engines.mjs).

import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { connect } from "../../src/fleet/postgres/connect.ts";
import { openOrders } from "../../src/fleet/postgres/orders.ts";
import type { Dispatch } from "../../src/ports/dispatch.ts";
import { openDbosOrders } from "./dbos-orders.ts";
import { openGraphileOrders } from "./graphile-orders.ts";

const root = process.env["AUTOPILOT_ENGINES"] ?? join(homedir(), ".cache/autopilot/engines");
const packages: Readonly<Record<string, string>> = {
  "graphile-worker": "graphile-worker",
  dbos: "@dbos-inc/dbos-sdk",
};

/** For a suite's title: why it isn't held to an engine here. */
export function withoutEngine(name: string): string {
  const wanted = packages[name];
  const isHere =
    wanted === undefined || existsSync(join(root, name, "node_modules", wanted, "package.json"));
  return isHere ? "" : ` (skipped: node scripts/engines.mjs ${name} fetches it)`;
}

export function openEngine(name: string, url: string, leaseMs: number): Promise<Dispatch> {
  if (name === "sql") {
    return Promise.resolve(openOrders(connect(url, { answerMs: 2_000 }), { leaseMs }));
  }

  if (name === "graphile-worker") return openGraphileOrders(join(root, name), url, leaseMs);
  if (name === "dbos") return openDbosOrders(join(root, name), url, leaseMs);
  throw new Error(`there is no engine ${name}`);
}
