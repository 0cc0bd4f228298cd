// A campaign against the lease and the fence: three processes want one run, each by its own way,
// and things happen to them by a seed that is reported. What each said it did is held against what
// the store holds. `AUTOPILOT_FAULTS=all` makes a thousand things happen.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect } from "../../src/fleet/postgres/connect.ts";
import { migrate } from "../../src/fleet/postgres/migrate.ts";
import { openPostgresStore } from "../../src/fleet/postgres/store.ts";
import { genesis } from "../../src/journal/line.ts";
import { dice } from "../support/dice.ts";
import { type Cluster, postgresBin, startCluster, withoutPostgres } from "../support/postgres.ts";
import { openWay, type Way } from "./way.ts";

const events = Number(
  process.env["FLEET_EVENTS"] ?? (process.env["AUTOPILOT_FAULTS"] === "all" ? "1000" : "16"),
);
const seed = Number(process.env["FLEET_SEED"] ?? "20260116");
const leaseMs = 2_400;
const run = "run-2026-01-02-030405";
const program = `node_modules/.cache/fleet-contender-${process.pid}.mjs`;

type Said = {
  readonly word: string;
  readonly at: number;
  readonly asked?: number;
  readonly epoch?: number;
  readonly seq?: number;
  readonly walk?: string;
  readonly step?: string;
  readonly kind?: string;
};
type Contender = { child: ChildProcess; readonly way: Way; readonly said: Said[] };
type Line = {
  readonly seq: number;
  readonly epoch: number;
  readonly walk: string;
  readonly step: string;
};

let cluster: Cluster;
const contenders: Contender[] = [];

function launch(way: Way, said: Said[]): ChildProcess {
  const url = `postgres://owner@/campaign?host=${encodeURIComponent(way.folder)}`;
  const child = spawn(process.execPath, [program, url, run, String(leaseMs)], {
    stdio: ["ignore", "pipe", "inherit"],
  });

  createInterface({ input: child.stdout }).on(
    "line",
    (line) => void said.push(JSON.parse(line) as Said),
  );

  return child;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}

function restart(): Promise<boolean> {
  try {
    cluster.start();
    return Promise.resolve(true);
  } catch {
    return Promise.resolve(false); // what was killed is not gone yet
  }
}

/** What may happen to one of them, or to the database, for a while. */
const nemeses: Readonly<Record<string, (one: Contender, ms: number) => Promise<void>>> = {
  "cut both ways": async ({ way }, ms) => {
    Object.assign(way, { isUpCut: true, isDownCut: true });
    await sleep(ms);
    way.heal();
  },
  "questions lost": async ({ way }, ms) => {
    way.isUpCut = true;
    await sleep(ms);
    way.heal();
  },
  "answers lost": async ({ way }, ms) => {
    way.isDownCut = true;
    await sleep(ms);
    way.heal();
  },
  "old connections forgotten": async ({ way }, ms) => {
    way.forgetOld();
    await sleep(ms / 2);
  },
  "connections reset": async ({ way }, ms) => {
    way.reset();
    await sleep(ms / 4);
  },
  slow: async ({ way }, ms) => {
    way.delayMs = 150;
    await sleep(ms);
    way.heal();
  },
  "stopped and woken": async ({ child }, ms) => {
    child.kill("SIGSTOP");
    await sleep(ms * 1.5);
    child.kill("SIGCONT");
  },
  killed: async (one, ms) => {
    await end(one.child);
    await sleep(ms / 4);
    one.child = launch(one.way, one.said);
  },
  "database killed": async (_one, ms) => {
    cluster.crash();
    await sleep(ms / 4);
    await expect.poll(restart, { timeout: 60_000, interval: 100 }).toBe(true);
  },
};

describe.skipIf(postgresBin === null)(`a campaign${withoutPostgres}`, () => {
  beforeAll(async () => {
    const bundle = await rolldown({
      input: "test/fleet/contender.ts",
      external: ["fs-native-extensions", "pg-native"],
      platform: "node",
    });
    await bundle.write({ file: program, format: "esm", codeSplitting: false });
    await bundle.close();
    cluster = startCluster();
    const database = connect(cluster.database("campaign"), { answerMs: 20_000 });
    await migrate(database, "test");
    await database.close();
  });

  afterAll(async () => {
    for (const { child, way } of contenders) {
      await end(child);
      way.close();
    }

    cluster.stop();
    rmSync(program, { force: true });
  });

  test(
    "nothing acknowledged is lost or there twice, epochs never go back, and nobody spends under another's lease",
    { timeout: events * 60_000 },
    async () => {
      const roll = dice(seed);
      for (let n = 0; n < 3; n++) {
        const way = openWay(cluster.socket);
        const said: Said[] = [];
        contenders.push({ way, said, child: launch(way, said) });
      }

      const kept = (): number =>
        contenders.reduce(
          (sum, { said }) => sum + said.filter(({ word }) => word === "kept").length,
          0,
        );
      await expect.poll(kept, { timeout: 120_000 }).toBeGreaterThan(5);
      const names = Object.keys(nemeses);

      for (let n = 0; n < events; n++) {
        const name = names[roll(names.length)] ?? "";
        // Mostly whoever has the run: the others have nothing to lose.
        const holder = contenders.toSorted(
          (a, b) =>
            (b.said.findLast(({ word }) => word === "kept")?.at ?? 0) -
            (a.said.findLast(({ word }) => word === "kept")?.at ?? 0),
        );
        const one = holder[roll(4) === 0 ? 1 + roll(2) : 0];
        if (one !== undefined) await nemeses[name]?.(one, 100 + roll(leaseMs));
      }

      // Left alone, somebody goes on.
      for (const { way } of contenders) way.heal();
      const before = kept();
      await expect.poll(kept, { timeout: 120_000 }).toBeGreaterThan(before + 5);
      for (const { child } of contenders) await end(child);

      const store = await openPostgresStore(cluster.database("campaign"));
      const lines: Line[] = [];
      await store.read(run, genesis, (entry) => void lines.push(entry as unknown as Line)); // the chain is checked, and with it gaps
      await store.close();
      const said = contenders.flatMap((one) => one.said);
      const acknowledged = said.filter(({ word }) => word === "kept");
      const story = `seed ${seed}: ${events} events, ${lines.length} lines, ${acknowledged.length * 2} acknowledged, epoch ${lines.at(-1)?.epoch ?? 0}`;
      process.stderr.write(`campaign: ${story}\n`);

      const lost = acknowledged.filter(({ seq = 0, epoch, walk, step }) => {
        const [first, second] = [lines[seq - 1], lines[seq]];
        return (
          first?.step !== step ||
          first?.epoch !== epoch ||
          second?.step !== step ||
          second?.walk !== walk
        );
      });
      expect(lost, story).toEqual([]);
      const written = lines
        .filter(({ walk }) => walk.startsWith("of-"))
        .map(({ walk, step }) => `${walk} ${step}`);
      expect(new Set(written).size, `${story}: nothing twice`).toBe(written.length);
      expect(
        lines.filter(({ epoch }, at) => epoch < (lines[at - 1]?.epoch ?? 0)),
        `${story}: epochs`,
      ).toEqual([]);

      const owners = new Map<number, Set<string>>();
      for (const { epoch, walk } of lines) {
        if (walk.startsWith("of-")) owners.set(epoch, (owners.get(epoch) ?? new Set()).add(walk));
      }

      expect(
        [...owners.values()].filter((pids) => pids.size > 1),
        `${story}: one owner an epoch`,
      ).toEqual([]);

      const taken = said.filter(({ word }) => word === "taken");
      const late = said.filter(
        ({ word, asked = 0, epoch = 0 }) =>
          word === "spent" && taken.some((take) => (take.epoch ?? 0) > epoch && take.at < asked),
      );
      expect(late, `${story}: spent by nobody who had lost the run`).toEqual([]);
      const odd = said.filter(
        ({ word, kind = "" }) =>
          word === "refused" && !["lease_lost", "store_unreachable"].includes(kind),
      );
      expect(odd, story).toEqual([]);
    },
  );
});
