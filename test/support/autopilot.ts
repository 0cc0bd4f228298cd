// autopilot: the built command line as a user runs it, with a home that is nobody's; without its
// own process where a process is not what it is about.

import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { type Environment, served } from "./served.ts";

/** Another build of it, an installed one say, may be named by the environment. */
export const program =
  process.env["AUTOPILOT_PROGRAM"] ?? resolve(import.meta.dirname, "../../dist/autopilot.cjs");

/** The one object of --json, as far as tests look into it. */
export type Reported = {
  readonly result: "PASS" | "WARN" | "FAIL";
  readonly reason_code: string;
  readonly run_id: string | null;
  readonly state: string | null;
  readonly message: string;
  readonly warnings: readonly string[];
  readonly remediation: readonly string[];
  readonly [more: string]: unknown;
};
export type Ended = {
  readonly code: number | null;
  readonly signal: string | null;
  readonly out: string;
  readonly err: string;
  readonly json: Reported;
};
export type Entry = {
  readonly seq: number;
  readonly event: string;
  readonly reason_code: string;
  readonly actor: string;
  readonly [more: string]: unknown;
};
/**
 * One cache for a whole run of the suite: each command is a user's second one, not the first after
 * the machine started.
 */
export const sharedCache = join(tmpdir(), `autopilot-test-cache-${process.ppid}`);
/**
 * For a program that is started with an environment of its own: the code that commands before it
 * compiled. In a home made for the test each start would compile all of it again, and one that is
 * killed leaves nothing for the next.
 */
export const compiled = { AUTOPILOT_CODE_CACHE: join(sharedCache, "autopilot", "code") };
type Around = {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** Words before the command of a process of its own, which run it elsewhere. */
  readonly on?: readonly string[];
};
/**
 * All commands in their own processes: the slow way, for comparison, for real agents, and where
 * another build was named.
 */
const isAlwaysApart =
  process.env["AUTOPILOT_PROGRAM"] !== undefined ||
  process.env["AUTOPILOT_TEST_APART"] !== undefined;

/**
 * Runs a command to its end, by the command server where nothing speaks against it. `json` throws
 * where stdout is not one object.
 */
export async function autopilot(
  folder: string,
  args: readonly string[],
  around: Around = {},
): Promise<Ended> {
  const isForNode = Object.keys(around.env ?? {}).some((name) => name.startsWith("NODE_"));
  if (isAlwaysApart || isForNode || around.input !== undefined) return apart(folder, args, around);

  const { code, out, err } = await served(program, {
    cwd: folder,
    words: args,
    env: environmentIn(folder, around),
  });

  return { code, signal: null, out, err, json: lazily(out, err) };
}

/**
 * The same in its own process: for what is about processes, their start, signals and locks, or what
 * a machine shows of them.
 */
export const apart = (
  folder: string,
  args: readonly string[],
  around: Around = {},
): Promise<Ended> => begin(folder, args, around).ended;

/** Starts a command and leaves it running. */
export function begin(
  folder: string,
  args: readonly string[],
  { env = {}, input, on = [] }: Around = {},
): { readonly child: ChildProcess; readonly ended: Promise<Ended> } {
  const [first = "", ...rest] = [...on, process.execPath, program, ...args];
  const child = spawn(first, rest, {
    cwd: folder,
    env: environmentIn(folder, { env }),
    stdio: ["pipe", "pipe", "pipe"],
  });

  let out = "";
  let err = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
  child.stdin.on("error", () => undefined);
  child.stdin.end(input ?? "");

  const ended = new Promise<Ended>((report, fail) => {
    child.once("error", fail);
    child.once("close", (code, signal) =>
      report({ code, signal, out, err, json: lazily(out, err) }),
    );
  });

  return { child, ended };
}

/** Programs that stand in for slow ones in stories that are not about them. */
const stands = join(import.meta.dirname, "bin");

export function environmentIn(folder: string, { env = {} }: Around = {}): Environment {
  const home = join(dirname(folder), "home");
  mkdirSync(home, { recursive: true });
  return {
    PATH: `${stands}:${process.env["PATH"]}`,
    HOME: home,
    USER: "tester",
    LANG: "C.UTF-8",
    XDG_CACHE_HOME: sharedCache,
    ...env,
  };
}

/**
 * The object is read when it is asked for, so that a command without --json may say what it likes.
 */
function lazily(out: string, err: string): Reported {
  let reported: Reported | null = null;
  const read = (): Reported => {
    if (reported !== null) return reported;
    try {
      return (reported = JSON.parse(out) as Reported);
    } catch {
      throw new Error(`stdout is not one JSON object:\n${out}\nstderr:\n${err}`);
    }
  };

  return new Proxy({} as Reported, {
    get: (_, key) => Reflect.get(read(), key) as unknown,
    has: (_, key) => key in read(),
    ownKeys: () => Reflect.ownKeys(read()),
    getOwnPropertyDescriptor: (_, key) => Reflect.getOwnPropertyDescriptor(read(), key),
  });
}

/** A script for the embedded agent, beside the repository; gives the words that choose it. */
export function scripted(
  folder: string,
  turns: readonly object[],
  name = "script",
): readonly string[] {
  const file = join(dirname(folder), `${name}.json`);
  writeFileSync(file, JSON.stringify({ turns }));
  return ["--agent", `scripted:${file}`];
}

/**
 * What an agent's turn does first: it waits until all these files exist. After some minutes it goes
 * on, so that a test fails by what it expects.
 */
export const waitsFor = (...files: readonly string[]): { readonly run: string } => ({
  run: `for i in $(seq 3000); do ${files.map((file) => `[ -e '${file}' ]`).join(" && ")} && break; sleep 0.1; done`,
});

/**
 * Holds turns until it is opened, so that they are ordered by what happened, however busy the
 * machine is.
 */
export function gateBeside(folder: string): {
  readonly waits: { readonly run: string };
  readonly open: () => void;
} {
  const file = join(dirname(folder), "gate-is-open");
  return { waits: waitsFor(file), open: () => writeFileSync(file, "") };
}

const runFolderOf = (folder: string): string => {
  const runs = join(folder, ".autopilot", "runs");
  const [run] = readdirSync(runs).toSorted().toReversed();
  if (run === undefined) throw new Error(`no run in ${folder}`);

  return join(runs, run);
};

/** The newest run's journal, whole lines only: its owner may be writing. */
export function journal(folder: string, of = runFolderOf(folder)): readonly Entry[] {
  const text = readFileSync(join(of, "journal.jsonl"), "utf8");
  return text
    .slice(0, text.lastIndexOf("\n") + 1)
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Entry);
}

export const eventsOf = (folder: string, event: string): readonly Entry[] =>
  journal(folder).filter((entry) => entry.event === event);
export { runFolderOf };

/**
 * No test is about this time: it only lets a hang be named before the test's own limit ends it,
 * however busy the machine is.
 */
const hangMs = 300_000;

/**
 * Waits until something holds, looking again and again; a wait that is too long names what it
 * waited for.
 */
export async function until<Value>(
  what: string,
  look: () => Value | false | null | undefined,
  withinMs = hangMs,
): Promise<Value> {
  const before = performance.now();
  for (;;) {
    const began = performance.now();
    const found = seen(look);
    if (found !== false && found !== null && found !== undefined) return found;
    if (performance.now() - before > withinMs) throw new Error(`waited in vain for: ${what}`);
    await wait(Math.max(25, 8 * (performance.now() - began))); // a dear look is made less often
  }
}

/** What is not there yet is looked for again. */
function seen<Value>(look: () => Value): Value | null {
  try {
    return look();
  } catch {
    return null;
  }
}

/**
 * The living processes that have a run's mark in their environment or work in its folder, as checks
 * do. Runs of one second share a name, so the place counts too.
 */
export function processesOf(run: string, folder: string): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && isMarked(pid, run, folder));
}

function isMarked(pid: number, run: string, folder: string): boolean {
  try {
    const isZombie = /^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
    const environment = readFileSync(`/proc/${pid}/environ`, "utf8");
    if (isZombie) return false;
    if (readlinkSync(`/proc/${pid}/cwd`).startsWith(`${folder}/.autopilot/runs/${run}`)) {
      return true;
    }

    const isOfRun = environment
      .split("\0")
      .some((word) => word === `AUTOPILOT_RUN=${run}` || word.startsWith(`AUTOPILOT_RUN=${run}-`)); // a child run's name begins with its parent's
    return (
      isOfRun &&
      (environment.includes(`${folder}/`) ||
        readlinkSync(`/proc/${pid}/cwd`).startsWith(`${folder}/`))
    );
  } catch {
    return false;
  }
}

/**
 * Where stories are told that are not about isolation: cheap by default; another level may be named
 * to tell them all there.
 */
export const isolation = process.env["AUTOPILOT_TEST_ISOLATION"] ?? "clone";

/** `go` on a goal with a scripted agent, in a disposable repository, acknowledged. */
export function goScripted(
  folder: string,
  turns: readonly object[],
  args: readonly string[] = [],
  around: Around = {},
): Promise<Ended> {
  return autopilot(folder, goArgs(folder, turns, args), around);
}

export const goArgs = (
  folder: string,
  turns: readonly object[],
  args: readonly string[] = [],
): readonly string[] => {
  const level = args.includes("--isolation") ? [] : ["--isolation", isolation];
  return ["go", "make b", "--yes", "--json", ...level, ...scripted(folder, turns), ...args];
};
