import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { openAgents } from "../../src/agents/open-agents.ts";
import { returnOf } from "../../src/flows/returns.ts";
import { openMeter } from "../../src/meter/open-meter.ts";
import { priceFrom } from "../../src/meter/prices.ts";
import { openModelServer } from "../model-server/model-server.ts";
import { scratchFolder } from "../support/scratch-repository.ts";
import { realKey, userEnvironment } from "./installed.ts";

const name = process.env["DBG_AGENT"] as "claude";
test("debug", async () => {
  const model = await openModelServer({ keys: [realKey], script: () => process.env["DBG_SCRIPT"] ?? "" });
  const place = scratchFolder("autopilot-turn-");
  const [layer, home] = [join(place, "layer"), join(place, "home")];
  for (const folder of [layer, home]) mkdirSync(folder);
  const env = userEnvironment(name, model.url);
  const meter = await openMeter({ socket: join(place, "door", "s"), tcp: true, seenPort: null, priceOf: priceFrom({}), now: Date.now });
  process.env["PATH"] = env["PATH"];
  const agents = openAgents({
    embedded: { node: process.execPath, entry: "", scriptOf: () => "" }, returnOf, meter,
    returnsEntry: join(import.meta.dirname, "../../dist/returns.cjs"), place, home, env, userHome: join(place, "nobody"),
    wrap: (argv) => ["/bin/sh", "-c", 'tee /tmp/dbg-conv/in.log | "$@" | tee /tmp/dbg-conv/out.log', "x", ...argv],
  });
  const result = await agents.turn({
    run: "run-2026-01-02-030405", attempt: "1@1/execute#1", cast: { agent: name, ...(process.env["DBG_MODE"] ? { override: { mode: process.env["DBG_MODE"] as "full" } } : {}) },
    facts: { flow: "objective", phase: "1", step: "execute", role: "executor", task: null, attempt: 1, ask: 1 },
    history: [], prompt: "Please make what is missing.", returns: null, promise: null, layer, minutesMax: 0.4, scope: ["**"], isInterrupted: false,
    left: () => ({ tokens: Infinity, usd: Infinity, calls: Infinity }), isUnpaid: () => true, session: null, cancel: new AbortController().signal,
    onSession: () => Promise.resolve(), onAskAgain: () => Promise.resolve(false), onSignal: (s) => console.log(JSON.stringify(s).slice(0, 200)),
  });
  console.log(JSON.stringify(result, null, 1), model.calls().map((c) => [c.status, c.isSideCall, c.outcome]));
  await agents.close(); await meter.close(); await model.close();
});
