// order-taker: a worker reduced to what dispatch is about. It says on stdout what it begins and ends, and ends an order when stdin says so.

import { createInterface } from "node:readline";
import type { OrderEnd, WorkerRegistration } from "../../src/ports/dispatch.ts";
import { Refusal } from "../../src/project/respond.ts";
import { openEngine } from "./engines.ts";

const [engine = "", url = "", leaseMs = "", seat = ""] = process.argv.slice(2);
const report = (said: object): void => void process.stdout.write(`${JSON.stringify({ at: Date.now(), ...said })}\n`);
const waiting = new Map<string, (end: OrderEnd) => void>();

const dispatch = await openEngine(engine, url, Number(leaseMs));
try {
  const working = await dispatch.work(
    JSON.parse(seat) as WorkerRegistration,
    ({ id, deaths }) =>
      new Promise((resolve) => {
        waiting.set(id, resolve);
        report({ begun: id, deaths });
      }),
  );
  createInterface({ input: process.stdin }).on("line", (line) => {
    const [word = "", id = ""] = line.split(" ");
    if (word === "drain") void working.drain();
    else waiting.get(id)?.(word === "end" ? { kind: "ended", outcome: "done" } : { kind: "again", afterMs: 100, because: "given back" });
  });
  report({ ready: true });
  report({ over: await working.over });
} catch (error) {
  report({ refused: error instanceof Refusal ? error.response.reason_code : String(error) });
}
await dispatch.close();
process.exit(0);
