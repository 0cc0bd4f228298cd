// measure: slices that take turns, so that a noisy neighbour slows both sides of a ratio alike;
// medians, so that one hiccup counts for nothing.

import {
  closeSync,
  fdatasyncSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";

export const isQuick = process.env["BENCH_QUICK"] === "1";
export const repository = process.env["AUTOPILOT_ROOT"] ?? process.cwd();
/** The environment of a child that must not pay for this machine's certificates. */
export const plainEnv: NodeJS.ProcessEnv = {
  ...process.env,
  NODE_EXTRA_CA_CERTS: undefined,
  IS_SANDBOX: undefined,
};

export function report(figure: string, value: number, note?: string): void {
  process.stdout.write(
    `${JSON.stringify({ figure, value, ...(note === undefined ? {} : { note }) })}\n`,
  );
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
export const median = (values: readonly number[]): number => quantile(values, 0.5);

export type Contender = { readonly name: string; readonly slice: () => Promise<number> | number };
/**
 * Lets each contender run one slice in turn, round after round; the first rounds warm up and do not
 * count.
 */
export async function interleave(
  contenders: readonly Contender[],
  rounds: number,
  warmUpRounds = 2,
): Promise<Record<string, number[]>> {
  const slices: Record<string, number[]> = Object.fromEntries(
    contenders.map(({ name }) => [name, []]),
  );

  for (let round = 0; round < rounds + warmUpRounds; round++) {
    for (const { name, slice } of contenders) {
      const value = await slice();
      if (round >= warmUpRounds) slices[name]?.push(value);
    }
  }

  return slices;
}

/** The median of the ratios of slices that stood side by side. */
export function ratioOf(slices: Record<string, number[]>, over: string, under: string): number {
  const base = slices[under] ?? [];
  return median((slices[over] ?? []).map((value, at) => value / (base[at] ?? Number.NaN)));
}

/** Milliseconds of each of `times` calls; the slice's value is their median. */
export async function p50Of(times: number, action: () => unknown): Promise<number> {
  const spent: number[] = [];
  for (let at = 0; at < times; at++) {
    const began = performance.now();
    const ended = action();
    if (ended instanceof Promise) await ended;
    spent.push(performance.now() - began);
  }

  return median(spent);
}

/** The yardstick: one line of 300 bytes written and made durable, with nothing around it. */
export function openBare(folder: string): {
  readonly append: () => void;
  readonly close: () => void;
} {
  const line = Buffer.from(`${"x".repeat(299)}\n`);
  const fd = openSync(join(folder, "bare.log"), "a", 0o600);
  return {
    append: () => {
      writeSync(fd, line);
      fdatasyncSync(fd);
    },
    close: () => closeSync(fd),
  };
}

/**
 * A folder on the disk that holds the repository: a temporary folder may be in memory, where
 * fdatasync costs nothing.
 */
export async function withFolder<Value>(
  action: (folder: string) => Promise<Value>,
): Promise<Value> {
  const folder = mkdtempSync(join(repository, "node_modules/.cache/bench-"));
  try {
    return await action(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * The yardstick of whatever reads lines: every line cut out of a megabyte and parsed, nothing
 * checked, nothing kept.
 */
export function parseLines(path: string): void {
  const fd = openSync(path, "r");
  const buffer = Buffer.allocUnsafeSlow(1024 * 1024);
  let held = 0;
  for (
    let read = readSync(fd, buffer, 0, buffer.length, null);
    read > 0;
    read = readSync(fd, buffer, held, buffer.length - held, null)
  ) {
    const filled = held + read;
    let start = 0;
    for (
      let end = buffer.indexOf(10);
      end !== -1 && end < filled;
      end = buffer.indexOf(10, start)
    ) {
      JSON.parse(buffer.toString("utf8", start, end));
      start = end + 1;
    }

    buffer.copyWithin(0, start, filled);
    held = filled - start;
  }

  closeSync(fd);
}
