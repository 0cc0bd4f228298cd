// under-strace: the built command line under strace, which kills it, or fails one of its calls, at
// a chosen place.
//
// What strace counts, it counts by system call and by thread. So the main thread is traced alone
// (without -f), and the thread of Node's file work is distinguished from it by a lead
// (pool-lead.cjs). `--seccomp-bpf` must not be used: with it signals are silently not sent.

import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { compiled, type Ended, program, type Reported } from "../support/autopilot.ts";
import { seed } from "../support/sampled.ts";
import { scratchFolder } from "../support/scratch-repository.ts";
import { changingCalls, families } from "./call-families.ts";

/** Why there can be no fault by strace here, as the end of a title; empty if there can. */
export const whyNoStrace = ((): string => {
  if (process.platform !== "linux") return " (skipped: strace is for Linux only)";
  try {
    execFileSync("strace", ["-e", "trace=none", "true"], { stdio: "ignore" });
    return "";
  } catch {
    return " (skipped: strace is not installed, or may not trace here)";
  }
})();

/** `all` follows every process that is started, too. */
export type Thread = "main" | "files" | "all";
/** `isJournal`: the number counts writes to the journal alone, those of the draft left out. */
export type Call = {
  readonly thread: Thread;
  readonly name: string;
  readonly ordinal: number;
  readonly isJournal: boolean;
  readonly line: string;
};

/** A call by its number in its thread, and what becomes of it. */
export type Fault = {
  readonly thread: Thread;
  /**
   * A family (`callsOf`), of which each name is counted by itself; or one name that a trace of this
   * machine has shown.
   */
  readonly calls: string;
  /** As strace says it: `signal=KILL`, `error=ENOSPC`. */
  readonly does: string;
  readonly at: number;
  readonly forEver?: boolean;
  /** Counts only calls on this very file. */
  readonly path?: string;
  /** Other calls to be written into the log beside. */
  readonly also?: string;
};
export type Faulted = Ended & { readonly log: string; readonly fired: number };

/** More than the main thread ever makes of these in the small run. */
const leadCalls = 150;
const hasLead = /^(rename|mkdir|unlink|rmdir|fdatasync|fsync|ftruncate|fchmod)$/;
/**
 * What Node is asked to do for a call: the first name of a family, without what only some
 * processors add.
 */
const operationOf = (calls: string): string =>
  (calls.split(",")[0] ?? "").replace(/^\?/, "").replace(/at2?$/, "");
const poolLead = resolve(import.meta.dirname, "../fixtures/faults/pool-lead.cjs");

/** Runs a command with a fault; `fired` says how often it struck. */
export async function withFault(
  folder: string,
  args: readonly string[],
  fault: Fault,
): Promise<Faulted> {
  const isPool = fault.thread === "files";
  const operation = operationOf(fault.calls);
  const lead = isPool && hasLead.test(operation) ? leadCalls : 0;
  const when = `${fault.at + lead}${fault.forEver === true ? "+" : ""}`;

  const options = [
    ...(fault.thread === "main" ? [] : isPool ? ["-f", "-b", "execve"] : ["-f"]),
    ...(fault.path === undefined ? [] : ["-P", fault.path]),
    `-etrace=${fault.calls}${fault.also === undefined ? "" : `,${fault.also}`}`,
    `-einject=${fault.calls}:${fault.does}:when=${when}`,
  ];

  const { ended, log } = await strace(
    folder,
    args,
    options,
    lead === 0 ? "" : `${operation}:${lead}`,
  );

  return {
    ...ended,
    log,
    fired: fault.does.startsWith("signal")
      ? killedIn(log)
      : (log.match(/\(INJECTED\)/g)?.length ?? 0),
  };
}

/**
 * A call before which its process was killed has no result; whatever else was killed meanwhile is
 * not counted.
 */
const killedIn = (log: string): number =>
  log.includes("killed by SIGKILL") ? (log.match(/= \?$|<unfinished \.\.\.>$/gm)?.length ?? 0) : 0;

/** Every call of one undisturbed run that changed something below the folder, in order of time. */
export async function changesOf(
  folder: string,
  args: readonly string[],
): Promise<{ readonly ended: Ended; readonly calls: readonly Call[] }> {
  const { ended, log } = await strace(
    folder,
    args,
    ["-f", "-b", "execve", "-e", `trace=${changingCalls}`],
    "",
  );
  const lines = log.split("\n").map((line) => /^(\d+) +(\w+)\((.*)$/.exec(line));
  const main = lines.find((line) => line !== null)?.[1];
  const counts = new Map<string, number>();
  const count = (key: string): number => {
    counts.set(key, (counts.get(key) ?? 0) + 1);
    return counts.get(key) ?? 0;
  };

  const calls: Call[] = [];
  for (const line of lines) {
    if (line === null) continue;
    const [whole, id = "", name = "", rest = ""] = line;
    const thread = id === main ? "main" : "files";
    const ordinal = count(`${id} ${name}`);
    const isChange =
      rest.includes(folder) &&
      !/= -1 E/.test(rest) &&
      (!name.startsWith("open") || /O_CREAT|O_TRUNC/.test(rest));
    if (!isChange) continue;
    // Threads tell each other of work and of signals by writes, ever so many: only those to the
    // journal can be distinguished by number.
    if (!families.write.some((one) => one === name)) {
      calls.push({ thread, name, ordinal, isJournal: false, line: whole });
    } else if (rest.includes("/journal.jsonl>") && !rest.includes('seq\\":1,')) {
      calls.push({ thread, name, ordinal: count("journal"), isJournal: true, line: whole });
    }
  }

  return { ended, calls };
}

async function strace(
  folder: string,
  args: readonly string[],
  options: readonly string[],
  leading: string,
): Promise<{ ended: Ended; log: string }> {
  const file = join(scratchFolder("autopilot-strace-"), "log");
  const home = join(dirname(folder), "home");
  mkdirSync(home, { recursive: true });
  mkdirSync(compiled.AUTOPILOT_CODE_CACHE, { recursive: true, mode: 0o700 }); // or the first one makes more calls than the others
  const own = { HOME: home, USER: "tester", LANG: "C.UTF-8", ...compiled };

  const node = [
    process.execPath,
    ...(leading === "" ? [] : ["--require", poolLead]),
    program,
    ...args,
  ];
  const child = spawn("strace", ["-qq", "-y", "-o", file, ...options, ...node], {
    cwd: folder,
    env: { PATH: process.env["PATH"], ...own, UV_THREADPOOL_SIZE: "1", FAULT_LEAD: leading },
    stdio: ["ignore", "pipe", "pipe"],
  });

  let out = "";
  let err = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));

  const ended = await new Promise<Ended>((report, fail) => {
    child.once("error", fail);
    // Not `close`: whatever outlives a killed runner for a moment still holds the pipes.
    child.once("exit", (code, signal) =>
      setTimeout(() => report({ code, signal, out, err, json: reportedIn(out) }), 10),
    );
  });

  child.stdout.destroy();
  child.stderr.destroy();
  return { ended, log: readFileSync(file, "utf8") };
}

function reportedIn(out: string): Reported {
  try {
    return JSON.parse(out) as Reported;
  } catch {
    return {
      result: "FAIL",
      reason_code: "none",
      run_id: null,
      state: null,
      message: out,
      warnings: [],
      remediation: [],
    };
  }
}

/** Evenly chosen, by the seed of the sample. */
export function sampled<Value>(values: readonly Value[], most: number): readonly Value[] {
  if (values.length <= most) return values;
  const places = new Set(
    Array.from(
      { length: most },
      (_, n) => (Math.floor((n * values.length) / most) + seed) % values.length,
    ),
  );
  return values.filter((_, place) => places.has(place));
}

/** Does the work for each, two at a time; what went wrong is reported for all of them together. */
export async function twoAtATime<Value>(
  values: readonly Value[],
  name: (value: Value) => string,
  work: (value: Value) => Promise<void>,
): Promise<void> {
  const waiting = values.entries();
  const failures: string[] = [];

  const worker = async (): Promise<void> => {
    for (const [, value] of waiting) {
      try {
        await work(value);
      } catch (error) {
        failures.push(
          `${name(value)}\n    ${(error instanceof Error ? error.message : String(error)).replaceAll("\n", "\n    ")}`,
        );
      }
    }
  };
  await Promise.all([worker(), worker()]);

  if (failures.length > 0) {
    throw new Error(`${failures.length} of ${values.length} went wrong:\n${failures.join("\n")}`);
  }
}
