// order-taker: takes orders in a process of its own, which can be killed. It reports on stdout and
// listens on stdin.

import { createInterface } from "node:readline";
import type { WorkerRegistration } from "../../src/ports/dispatch.ts";
import { takeOrders } from "./order-taking.ts";

const [engine = "", url = "", leaseMs = "", seat = ""] = process.argv.slice(2);
const taking = takeOrders(
  { engine, url, leaseMs: Number(leaseMs), worker: JSON.parse(seat) as WorkerRegistration },
  (said) => {
    process.stdout.write(`${JSON.stringify(said)}\n`);
  },
);
createInterface({ input: process.stdin }).on("line", taking.hear);
await taking.over;
process.exit(0);
