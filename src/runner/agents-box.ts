// agents-box: the agents of a run inside their isolation, limits and meter.
//
// Invariants:
//   A1. The meter is open before the first turn; opening a run does not need one.
//   A2. What an agent wrote in an overlay is merged after its last process has ended, and before its folder is read.
//   A3. An agent sees its own folder, its private HOME and what it must read; of the blobs only its script.
//   A4. What a turn needs may be loaded ahead of it, while idle; if that fails, the turn reports it.

import { rmSync } from "node:fs";
import { join } from "node:path";
import { type OpenedAgents, openAgents } from "../agents/open-agents.ts";
import type { Policy } from "../contracts/policy.ts";
import { returnOf } from "../flows/returns.ts";
import { invariant } from "../kit/invariant.ts";
import type { TurnRequest } from "../ports/agent.ts";
import type { Meter } from "../ports/meter.ts";
import type { OpenMeter } from "../meter/open-meter.ts";
import { type Isolation, privateHome } from "../workspace/isolation/confinement.ts";
import { apartRoot } from "../workspace/isolation/overlay-place.ts";
import type { OpenedLimits } from "../workspace/isolation/limits.ts";
import { readBorrowedObjects } from "../workspace/layers/records.ts";
import { globScope } from "../workspace/layers/scope.ts";
import { buildBoxLimits } from "./box-limits.ts";
import { returnsEntry, scriptedEntry } from "./embedded.ts";
import type { CommandContext } from "../project/command-context.ts";
import { socketFolder } from "../project/runs/temporary.ts";

/** Where the egress is inside a box with its own network. */
const egressPort = 4517;

export type AgentsBox = {
  readonly context: CommandContext;
  /** Variables of one turn besides the profile's. */
  readonly turnEnv: (attempt: string) => Readonly<Record<string, string>>;
  readonly isolation: Isolation;
  readonly limits: OpenedLimits;
  readonly policy: Policy;
  /** The run's own folder. */
  readonly folder: string;
  /** Identifies the run on this machine. */
  readonly mark: string;
  readonly scriptOf: (hash: string) => string;
  /** Receives every key and token, so that none is written anywhere. */
  readonly learn: (name: string, value: string) => void;
  /** Whether this process certainly still owns the run. */
  readonly isHeld: () => boolean;
};

export function openAgentsBox(box: AgentsBox): OpenedAgents {
  const { isolation, limits, policy, folder } = box;
  const meter = openLazily(() => openMeterFor(box));
  const agents = openAgents({
    embedded: { node: process.execPath, entry: scriptedEntry(), scriptOf: box.scriptOf },
    returnOf,
    meter: { open: (request) => meter.opened().meter.open(request) } satisfies Meter,
    returnsEntry: returnsEntry(),
    hosts: policy.agent_hosts ?? [],
    scopeOf: globScope,
    place: box.mark,
    home: privateHome(folder),
    env: box.context.env,
    turnEnv: ({ attempt }) => box.turnEnv(attempt),
    ...(box.context.env["HOME"] === undefined ? {} : { userHome: box.context.env["HOME"] }),
    boundsOf: (request) => ({ bounds: buildBoxLimits(policy), folders: [request.layer, apartRoot(folder), privateHome(folder)] }),
    wrap: (argv, request, env, { tools }) => {
      const { socket, port } = meter.opened();
      const wrapped = isolation.wrap({
        argv,
        cwd: request.layer,
        env,
        writable: [request.layer],
        readable: [
          ...boxScripts(box, request),
          ...readBorrowedObjects(folder, request.attempt),
          ...(tools === null ? [] : [returnsEntry()]),
        ], // A3
        network: "egress",
        egress: { socket, port },
        writes: "apart",
        limits: buildBoxLimits(policy),
      });
      return { ...wrapped, argv: limits.wrap(wrapped.argv, buildBoxLimits(policy), request.attempt) };
    },
  });
  return {
    ...agents,
    prepare: () => Promise.all([meter.ready(), agents.prepare()]).catch(() => undefined), // A4
    turn: async (request) => {
      await meter.ready(); // A1
      try {
        return await agents.turn(request);
      } finally {
        await limits.release(request.attempt);
        await isolation.collect(request.layer); // A2
      }
    },
    close: async () => {
      await agents.close();
      await meter.close();
    },
  };
}

const boxScripts = (box: AgentsBox, { cast }: TurnRequest): readonly string[] =>
  cast.script === undefined ? [] : [box.scriptOf(cast.script), scriptedEntry()];

type MeterHere = { readonly meter: OpenMeter; readonly socket: string; readonly port: number; readonly close: () => Promise<void> };

async function openMeterFor({ isolation, policy, learn, isHeld }: AgentsBox): Promise<MeterHere> {
  const [{ openMeter }, { priceFrom }] = await Promise.all([import("../meter/open-meter.ts"), import("../meter/prices.ts")]);
  // A socket's path may have about a hundred bytes only, and a run's folder may be deep.
  const own = await socketFolder("egress", "meter.sock");
  const socket = join(own, "meter.sock");
  const meter = await openMeter({
    socket,
    tcp: !isolation.hasOwnNetwork,
    seenPort: isolation.hasOwnNetwork ? egressPort : null,
    priceOf: priceFrom(policy.prices ?? {}),
    now: () => Date.now(),
    secrets: (value) => learn("model key", value),
    isHeld,
  });
  const port = isolation.hasOwnNetwork ? egressPort : meter.port;
  invariant(port !== null, "a meter is seen under some port");
  const close = async (): Promise<void> => {
    await meter.close();
    rmSync(own, { recursive: true, force: true });
  };
  return { meter, socket, port, close };
}

/** Opened once, when first awaited. */
function openLazily(open: () => Promise<MeterHere>): {
  readonly ready: () => Promise<unknown>;
  readonly opened: () => MeterHere;
  readonly close: () => Promise<void>;
} {
  let opening: Promise<MeterHere> | null = null;
  let here: MeterHere | null = null;
  return {
    ready: () => (opening ??= open().then((opened) => (here = opened))),
    opened: () => {
      invariant(here !== null, "A1: the meter is there before a turn begins");
      return here;
    },
    close: async () => {
      await (await opening?.catch(() => null))?.close();
    },
  };
}
