// bench: a repository with benchmarks whose command finds the bugs that a file of the repository
// lists, and counts every time it is started.

import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { autopilot, type Ended } from "../support/autopilot.ts";
import { git, scratch, write } from "../support/scratch-repository.ts";

export const bugs = (ids: readonly number[]): string =>
  ids.map((id) => `### BUG-00${id}: bug number ${id}\n\nsrc/x.c:${id * 10}\n`).join("\n");

/** `finds`: which of five known bugs each benchmark finds, as the file in the repository says. */
export function benchRepository(
  finds: Readonly<Record<string, readonly number[]>>,
  baselines: Readonly<Record<string, readonly number[]>> = {},
): string {
  const files: Record<string, string> = { "bench.sh": script };
  for (const [name, ids] of Object.entries(finds)) {
    files[`benchmarks/${name}/BUGS.md`] = `# Known\n\n${bugs(baselines[name] ?? [1, 2, 3, 4, 5])}`;
    files[`benchmarks/${name}/code.c`] = "int x;\n";
    files[`finds/${name}`] = bugs(ids);
  }

  return scratch({ files });
}

/**
 * It counts its start, hangs or waits where a file beside the repository says so, and leaves what
 * it finds.
 */
const script = `set -e
beside=$BESIDE
echo "$CALIBRATION_BENCHMARK $CALIBRATION_LEVER_STATE $CALIBRATION_REPEAT" >> "$beside/started"
if [ -e BUGS.md ]; then echo "the answers are here" >&2; exit 9; fi
if [ -e "$beside/hang-$CALIBRATION_BENCHMARK-$CALIBRATION_LEVER_STATE" ]; then
  rm "$beside/hang-$CALIBRATION_BENCHMARK-$CALIBRATION_LEVER_STATE"; sleep 1000
fi
if [ -e "$beside/slow" ]; then sleep "$(cat "$beside/slow")"; fi
mkdir -p quality
cp "$CALIBRATION_ROOT/finds/$CALIBRATION_BENCHMARK" quality/BUGS.md
if [ -e "$CALIBRATION_ROOT/cost" ]; then echo "cost=$(cat "$CALIBRATION_ROOT/cost")"; fi
`;

export const beside = (folder: string): string => dirname(folder);
export const around = (folder: string) => ({ env: { BESIDE: beside(folder) } });
export const command = 'sh "$CALIBRATION_ROOT/bench.sh"';

/** A patch that makes the benchmarks find other bugs. */
export function leverPatch(
  folder: string,
  finds: Readonly<Record<string, readonly number[]>>,
  name = "lever.patch",
): string {
  write(
    folder,
    Object.fromEntries(
      Object.entries(finds).map(([benchmark, ids]) => [`finds/${benchmark}`, bugs(ids)]),
    ),
  );

  const path = join(beside(folder), name);
  writeFileSync(path, `${git(folder, "diff")}\n`);
  git(folder, "checkout", "-q", "--", ".");

  return path;
}

export function calibrate(folder: string, args: readonly string[]): Promise<Ended> {
  return autopilot(folder, ["calibrate", ...args, "--json"], around(folder));
}

export const startArgs = (names: readonly string[], more: readonly string[]): readonly string[] => [
  "start",
  "--name",
  "2026-05-15-try",
  "--lever",
  "lever-1",
  "--hypothesis",
  "it finds more",
  "--benchmarks",
  names.map((name) => `benchmarks/${name}`).join(","),
  "--command",
  command,
  ...more,
];

export type CycleLine = { readonly event: string; readonly [more: string]: unknown };
export function cycleLog(folder: string, name = "2026-05-15-try"): readonly CycleLine[] {
  return readFileSync(join(folder, "Calibration Cycles", name, "run_state.jsonl"), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as CycleLine);
}

export const eventsIn = (folder: string, name?: string): readonly string[] =>
  cycleLog(folder, name).map(({ event }) => event);

/** Every start of a benchmark, one line each. */
export function started(folder: string): readonly string[] {
  const path = join(beside(folder), "started");
  return existsSync(path) ? readFileSync(path, "utf8").trimEnd().split("\n") : [];
}

export function put(folder: string, name: string, text = ""): void {
  mkdirSync(beside(folder), { recursive: true });
  appendFileSync(join(beside(folder), name), text);
}
