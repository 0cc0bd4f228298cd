// limits: limits the resources of one command's processes together, by the strongest mechanism that
// works here: cgroups, else a systemd scope, else ulimit. The limits wrap the whole isolated
// command, so they work with every isolation level.
//
// Invariants:
//   L1. A mechanism counts only after a self-test here since the machine started: a fork too many
//       and an allocation too large, both refused.
//   L2. A command that cannot join its limits does not start.
//   L3. Memory is never bounded by address space: V8 reserves far more than it uses.

import { spawn } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import * as v from "valibot";
import { type Limits, detachedProcessGap } from "./confinement.ts";
import { type Cgroups, openCgroups, tasksPerProcess } from "./limits-cgroup.ts";
import {
  systemdAddressVariables,
  composeScopeCommand,
  stopScope,
  findSystemd,
} from "./limits-systemd.ts";
import { noCache, type SelfTestCache } from "./self-test-cache.ts";

export type OpenedLimits = {
  /** Sentences for what is enforced, and for what is not. */
  readonly inForce: readonly string[];
  readonly missing: readonly string[];
  /** The command with its limits in front. Commands of the same key share one limit. */
  wrap(argv: readonly string[], limits: Limits, key: string): readonly string[];
  /** Ends what is left of the key's processes, if the mechanism can, and releases the limit. */
  release(key: string): Promise<void>;
  close(): Promise<void>;
};

type LimitMechanism = {
  readonly name: string;
  /** Whether it can end all of a command's processes. */
  readonly endsAll: boolean;
  prepare(limits: Limits, key: string): PreparedLimits;
  release(key: string): Promise<void>;
};

type PreparedLimits = {
  /** Words in front of the command. */
  readonly prefix: readonly string[];
  /** Files into which the command writes its pid, to join its cgroups. */
  readonly joinFiles: readonly string[];
  /** How many tasks `ulimit` allows; null if it isn't used. */
  readonly tasksMax: number | null;
};

const testTimeoutMs = 10_000;
const testLimits: Limits = {
  processesMax: 8,
  memoryBytesMax: 24 * 1024 ** 2,
  diskBytesMax: 1024 ** 3,
};
const forksTried = testLimits.processesMax * tasksPerProcess + 8;
const bytesTried = 96 * 1024 ** 2;
/**
 * The unit of `ulimit -f` in POSIX. Bash keeps to it when called as sh, and otherwise counts in
 * 1024 bytes.
 */
const blockBytes = 512;

// Joins the cgroups, sets the ulimits and becomes the command. Arguments: the number of files to
// join, the number of tasks or `-`, the size of a file in blocks or `-`, the files, the command. If
// a group can't be joined, the command does not start (L2); there is no `ulimit -v` (L3). Dash
// names the number of processes -p, others -u; that is tested in a separate shell, since a wrong
// letter may end it.
const joinScript = `
count=$1; tasks=$2; blocks=$3; shift 3
while [ "$count" -gt 0 ]; do
  echo $$ > "$1" || { echo "the limits of this command could not be joined" >&2; exit 125; }
  shift; count=$((count - 1))
done
ulimit -c 0 2>/dev/null
[ "$blocks" = - ] || ulimit -f "$blocks" 2>/dev/null
if [ "$tasks" != - ]; then
  if (ulimit -u "$tasks") 2>/dev/null; then ulimit -u "$tasks"; else ulimit -p "$tasks" 2>/dev/null; fi
fi
exec "$@"`;

/** Opens the limits of a run, by the best mechanism here. */
export async function openLimits(
  runDir: string,
  cache: SelfTestCache = noCache,
): Promise<OpenedLimits> {
  const keys = new Set<string>();
  const mechanism = await chooseMechanism(runDir, cache);
  const wrap = (argv: readonly string[], limits: Limits, key: string): readonly string[] => {
    keys.add(key);
    return wrapInLimits(mechanism.chosen, argv, limits, key);
  };

  const release = async (key: string): Promise<void> => {
    keys.delete(key);
    await mechanism.chosen.release(key);
  };

  return {
    ...describeLimits(mechanism),
    wrap,
    release,
    close: async () => {
      await Promise.all([...keys].map(release));
    },
  };
}

function wrapInLimits(
  mechanism: LimitMechanism,
  argv: readonly string[],
  limits: Limits,
  key: string,
): readonly string[] {
  const { prefix, joinFiles, tasksMax } = mechanism.prepare(limits, key);
  const blocks = String(Math.ceil(limits.diskBytesMax / blockBytes));
  const numbers = [String(joinFiles.length), tasksMax === null ? "-" : String(tasksMax), blocks];

  return [
    ...prefix,
    "/bin/sh",
    "-c",
    joinScript,
    "autopilot-limits",
    ...numbers,
    ...joinFiles,
    ...argv,
  ];
}

type ChosenMechanism = {
  readonly chosen: LimitMechanism;
  readonly holdsProcesses: boolean;
  readonly holdsMemory: boolean;
};

/**
 * The mechanism that an earlier test chose and that is here, else the one that tests choose now.
 */
async function chooseMechanism(runDir: string, cache: SelfTestCache): Promise<ChosenMechanism> {
  const cgroups = await openCgroups(runDir).catch(() => null);
  const cgroupMechanisms = cgroups === null ? [] : [createCgroupMechanism(cgroups)];

  // The runner's own cgroup decides what it may divide further.
  const testKey = [
    "limits",
    readText("/proc/self/cgroup"),
    ...systemdAddressVariables.map((name) => process.env[name] ?? ""),
  ].join("\n");
  const cached = parseCachedChoice(cache.read(testKey, programs));
  const findCached = (mechanisms: readonly LimitMechanism[]): LimitMechanism | undefined =>
    mechanisms.find(({ name }) => name === cached?.means);
  const candidates =
    findCached(cgroupMechanisms) === undefined
      ? [...cgroupMechanisms, ...(await findScopeMechanism()), ulimitMechanism]
      : cgroupMechanisms;
  const cachedMechanism = findCached(candidates);
  if (cached !== null && cachedMechanism !== undefined) {
    return { ...cached, chosen: cachedMechanism };
  }

  const best = await testAll(candidates);
  const { chosen, ...enforced } = best;
  cache.record(
    testKey,
    programs,
    JSON.stringify({ means: chosen.name, ...enforced } satisfies CachedChoice),
  );

  return best;
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

const programs = ["/bin/sh", "sleep", "head", "tail", "wc", "systemd-run"];
const CachedChoice = v.strictObject({
  means: v.string(),
  holdsProcesses: v.boolean(),
  holdsMemory: v.boolean(),
});
type CachedChoice = v.InferOutput<typeof CachedChoice>;
function parseCachedChoice(text: string | null): CachedChoice | null {
  try {
    return text === null ? null : v.parse(CachedChoice, JSON.parse(text));
  } catch {
    return null;
  }
}

/** Tests the mechanisms in order: the first that enforces both limits, else one, else any. L1 */
async function testAll(candidates: readonly LimitMechanism[]): Promise<ChosenMechanism> {
  let best: ChosenMechanism | null = null;
  for (const chosen of candidates) {
    const [holdsProcesses, holdsMemory] = await Promise.all([
      refusesForks(chosen),
      refusesMemory(chosen),
    ]);
    if (holdsProcesses && holdsMemory) return { chosen, holdsProcesses, holdsMemory };
    const isFirstOrBetter =
      best === null ||
      ((holdsProcesses || holdsMemory) && !best.holdsProcesses && !best.holdsMemory);
    if (isFirstOrBetter) best = { chosen, holdsProcesses, holdsMemory };
  }

  return best ?? { chosen: ulimitMechanism, holdsProcesses: false, holdsMemory: false };
}

const createCgroupMechanism = (cgroups: Cgroups): LimitMechanism => ({
  name: `cgroup ${cgroups.version}`,
  endsAll: cgroups.enforced.has("ending"),
  prepare: (limits, key) => ({
    prefix: [],
    joinFiles: cgroups.createGroup(key, limits),
    tasksMax: null,
  }),
  release: (key) => cgroups.clear(key),
});

async function findScopeMechanism(): Promise<readonly LimitMechanism[]> {
  const systemd = await findSystemd();
  if (systemd === null) return [];
  const toUnitName = (key: string): string =>
    `autopilot-${process.pid}-${createHash("sha256").update(key).digest("hex").slice(0, 12)}`;

  return [
    {
      name: "systemd scope",
      endsAll: true,
      prepare: (limits, key) => ({
        prefix: composeScopeCommand(systemd, toUnitName(key), limits, tasksPerProcess),
        joinFiles: [],
        tasksMax: null,
      }),
      release: (key) => stopScope(systemd, toUnitName(key)),
    },
  ];
}

/** The kernel counts all of a user's tasks, so existing ones are added. */
const ulimitMechanism: LimitMechanism = {
  name: "rlimits",
  endsAll: false,
  prepare: ({ processesMax }) => ({
    prefix: [],
    joinFiles: [],
    tasksMax: countUserTasks() + processesMax * tasksPerProcess,
  }),
  release: () => Promise.resolve(),
};

/** What a user has running, generously guessed. */
const tasksGuess = 2_000;

function countUserTasks(): number {
  const uid = process.getuid?.() ?? -1;
  try {
    const ownPids = readdirSync("/proc").filter(
      (name) =>
        /^\d+$/.test(name) && statSync(`/proc/${name}`, { throwIfNoEntry: false })?.uid === uid,
    );
    return ownPids.reduce((sum, pid) => sum + readThreadCount(pid), 0);
  } catch {
    return tasksGuess; // there is no /proc
  }
}

function readThreadCount(pid: string): number {
  try {
    return Number(/^Threads:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 1);
  } catch {
    return 0;
  }
}

async function refusesForks(mechanism: LimitMechanism): Promise<boolean> {
  const forks = `i=0; while [ $i -lt ${forksTried} ]; do sleep 20 & i=$((i + 1)); done; echo all`;
  return runUnderTestLimits(mechanism, forks, `self-test-${randomUUID()}`).then(
    (output) => output !== null && !output.includes("all"),
  );
}

async function refusesMemory(mechanism: LimitMechanism): Promise<boolean> {
  // `tail` buffers what it was asked for until the end: an allocation of so many bytes.
  const fill = `head -c ${bytesTried} /dev/zero | tail -c ${bytesTried} | wc -c; echo ended`;
  const output = await runUnderTestLimits(mechanism, fill, `self-test-${randomUUID()}`);
  return output !== null && output.includes("ended") && !output.includes(String(bytesTried));
}

/**
 * The output of a command under the small test limits; null if it could not be started under them.
 */
async function runUnderTestLimits(
  mechanism: LimitMechanism,
  command: string,
  key: string,
): Promise<string | null> {
  try {
    const text = await readOutput(
      wrapInLimits(mechanism, ["/bin/sh", "-c", `echo began; ${command}`], testLimits, key),
    );
    return text.includes("began") ? text : null;
  } catch {
    return null;
  } finally {
    await mechanism.release(key);
  }
}

/** The output of a command until it ends; its children are then killed, and not waited for. */
function readOutput([program = "", ...args]: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    const env = { PATH: process.env["PATH"] ?? "/usr/bin:/bin", LC_ALL: "C" };
    const child = spawn(program, args, {
      env,
      detached: true,
      stdio: ["ignore", "pipe", "ignore"],
    });

    const endGroup = (): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      } catch {
        return; // no process is left
      }
    };
    const timer = setTimeout(endGroup, testTimeoutMs);
    let text = "";
    child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString("utf8")));

    const end = (): void => {
      clearTimeout(timer);
      endGroup();
      setImmediate(() => {
        child.stdout.destroy();
        resolve(text);
      });
    };
    child.once("error", end);
    child.once("exit", end);
  });
}

function describeLimits({
  chosen,
  holdsProcesses,
  holdsMemory,
}: ChosenMechanism): Pick<OpenedLimits, "inForce" | "missing"> {
  const rows: readonly (readonly [boolean, string, string])[] = [
    [
      holdsProcesses,
      `number of processes (${chosen.name})`,
      "number of processes (polled twice a second; the command is ended above the limit)",
    ],
    [
      holdsMemory,
      `memory of all processes together (${chosen.name})`,
      "memory (polled twice a second; the command is ended above the limit)",
    ],
    [true, "size of a single file (rlimit)", ""],
    [false, "", "total disk use (polled; the command is ended above the limit)"],
    [chosen.endsAll, `nothing of a command outlives it (${chosen.name})`, detachedProcessGap],
  ];

  return {
    inForce: rows.filter(([isEnforced]) => isEnforced).map(([, message]) => message),
    missing: rows.filter(([isEnforced]) => !isEnforced).map(([, , message]) => message),
  };
}
