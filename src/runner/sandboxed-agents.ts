// sandboxed-agents: opens a run's agents inside their sandbox, resource limits and meter.
//
// Invariants:
//   A1. The meter is open before the first turn; opening a run does not need one.
//   A2. An agent sees its layer, its private HOME and the files it must read; of the blobs only its
//       script.
//   A3. What a turn needs may be loaded ahead of it, while idle; if that fails, the turn reports
//       it.

import { join } from "node:path";
import { type OpenedAgents, openAgents } from "../agents/open-agents.ts";
import type { Policy } from "../contracts/policy.ts";
import { validateReturn } from "../flows/returns.ts";
import { invariant } from "../kit/invariant.ts";
import type { TurnRequest } from "../ports/agent.ts";
import type { Meter } from "../ports/meter.ts";
import type { OpenMeter } from "../meter/open-meter.ts";
import { type Isolation, privateHome } from "../workspace/isolation/confinement.ts";
import { overlaysFolder } from "../workspace/isolation/overlay-folders.ts";
import type { OpenedLimits } from "../workspace/isolation/limits.ts";
import { readBorrowedObjects } from "../workspace/layers/folder-records.ts";
import { compileScope } from "../workspace/layers/scope-globs.ts";
import { computeSandboxLimits } from "./sandbox-limits.ts";
import { findToolServer, findScriptedAgent } from "./shipped-programs.ts";
import type { CommandContext } from "../project/command-context.ts";
import { createSocketFolder } from "../workspace/temporary-folder.ts";
import { eraseSync } from "../workspace/folder.ts";

/** The port of the meter inside a sandbox with its own network. */
const egressPort = 4517;

export type SandboxedAgentsParts = {
  readonly context: CommandContext;
  /** Environment variables of one turn besides the profile's. */
  readonly turnEnv: (attempt: string) => Readonly<Record<string, string>>;
  readonly isolation: Isolation;
  readonly limits: OpenedLimits;
  readonly policy: Policy;
  /** The run's folder. */
  readonly folder: string;
  /** Identifies the run on this machine. */
  readonly mark: string;
  readonly scriptPathOf: (hash: string) => string;
  /** Receives every key and token, so that none is written anywhere. */
  readonly learnSecret: (name: string, value: string) => void;
  /** Whether this process certainly still owns the run. */
  readonly isOwner: () => boolean;
};

export function openSandboxedAgents(parts: SandboxedAgentsParts): OpenedAgents {
  const { isolation, limits, policy, folder } = parts;
  const meter = openLazily(() => openMeterFor(parts));

  const agents = openAgents({
    embedded: {
      nodePath: process.execPath,
      programPath: findScriptedAgent(),
      scriptPathOf: parts.scriptPathOf,
    },
    validateReturn,
    meter: { open: (request) => meter.opened().meter.open(request) } satisfies Meter,
    returnsEntry: findToolServer(),
    hosts: policy.agent_hosts ?? [],
    scopeOf: compileScope,
    repository: parts.mark,
    home: privateHome(folder),
    env: parts.context.env,
    turnEnv: ({ attempt }) => parts.turnEnv(attempt),
    ...(parts.context.env["HOME"] === undefined ? {} : { userHome: parts.context.env["HOME"] }),
    boundsOf: (request) => ({
      bounds: computeSandboxLimits(policy),
      folders: [request.layer, overlaysFolder(folder), privateHome(folder)],
    }),
    wrap: (argv, request, env, { tools }) => {
      const { socket, port } = meter.opened();
      const wrapped = isolation.wrap({
        argv,
        cwd: request.layer,
        env,
        writable: [request.layer],
        readable: [
          ...listScriptPaths(parts, request),
          ...readBorrowedObjects(folder, request.attempt),
          ...(tools === null ? [] : [findToolServer()]),
        ], // A2
        network: "egress",
        egress: { socket, port },
        writes: "apart",
        limits: computeSandboxLimits(policy),
      });

      return {
        ...wrapped,
        argv: limits.wrap(wrapped.argv, computeSandboxLimits(policy), request.attempt),
      };
    },
  });

  return {
    ...agents,
    prepare: () => Promise.all([meter.ready(), agents.prepare()]).catch(() => undefined), // A3
    turn: async (request) => {
      await meter.ready(); // A1
      try {
        return await agents.turn(request);
      } finally {
        await limits.release(request.attempt);
      }
    },
    close: async () => {
      await agents.close();
      await meter.close();
    },
  };
}

const listScriptPaths = (parts: SandboxedAgentsParts, { cast }: TurnRequest): readonly string[] =>
  cast.script === undefined ? [] : [parts.scriptPathOf(cast.script), findScriptedAgent()];

type MeterEndpoint = {
  readonly meter: OpenMeter;
  readonly socket: string;
  readonly port: number;
  readonly close: () => Promise<void>;
};

async function openMeterFor({
  isolation,
  policy,
  learnSecret,
  isOwner,
}: SandboxedAgentsParts): Promise<MeterEndpoint> {
  const [{ openMeter }, { createPriceLookup }] = await Promise.all([
    import("../meter/open-meter.ts"),
    import("../meter/prices.ts"),
  ]);

  // A socket's path may have about a hundred bytes only, and a run's folder may be deep.
  const socketDir = await createSocketFolder("egress", "meter.sock");
  const socket = join(socketDir, "meter.sock");

  const meter = await openMeter({
    socket,
    tcp: !isolation.hasOwnNetwork,
    seenPort: isolation.hasOwnNetwork ? egressPort : null,
    priceOf: createPriceLookup(policy.prices ?? {}),
    now: () => Date.now(),
    secrets: (value) => learnSecret("model key", value),
    isOwner,
  });
  const port = isolation.hasOwnNetwork ? egressPort : meter.port;
  invariant(port !== null, "a meter is seen under some port");
  const close = async (): Promise<void> => {
    await meter.close();
    eraseSync(socketDir);
  };

  return { meter, socket, port, close };
}

/** Opens the meter once, when it is first awaited. */
function openLazily(open: () => Promise<MeterEndpoint>): {
  readonly ready: () => Promise<unknown>;
  readonly opened: () => MeterEndpoint;
  readonly close: () => Promise<void>;
} {
  let opening: Promise<MeterEndpoint> | null = null;
  let endpoint: MeterEndpoint | null = null;
  return {
    ready: () => (opening ??= open().then((opened) => (endpoint = opened))),
    opened: () => {
      invariant(endpoint !== null, "A1: the meter is there before a turn begins");
      return endpoint;
    },
    close: async () => {
      await (await opening?.catch(() => null))?.close();
    },
  };
}
