// Measures what the README states, as ratios inside one run: each bench is bundled, run in a process of its own, and compared with its target.
// npm run bench -- [--quick] [--json] [--strict] [--only append,start-up]
import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, cpus, loadavg } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { rolldown } from "rolldown";

const root = resolve(import.meta.dirname, "..");
const cache = join(root, "node_modules/.cache/bench");
const benchMinutesMax = 10;

const { values: flags } = parseArgs({
  options: {
    quick: { type: "boolean" },
    json: { type: "boolean" },
    strict: { type: "boolean" },
    only: { type: "string" },
  },
});
const figures = JSON.parse(readFileSync(join(root, "bench/figures.json"), "utf8"));
const wanted = flags.only?.split(",");
const benches = readdirSync(join(root, "bench"))
  .filter((name) => name.endsWith(".bench.ts"))
  .map((name) => name.replace(".bench.ts", ""))
  .filter((name) => wanted === undefined || wanted.includes(name))
  .sort();

mkdirSync(cache, { recursive: true });
const measured = new Map();
const [stolenBefore, ticksBefore] = processorTicks();
const missed = [];
// One bench after the other: two at once would measure each other.
for (const name of benches) {
  const began = performance.now();
  try {
    const path = await bundle(name);
    for (const { figure, value, note } of await runBench(path)) {
      measured.set(figure, { value, note });
      // Told at once, so that a bench that is broken off has not measured for nothing.
      if (!flags.json) process.stderr.write(`  ${figure} ${value}\n`);
    }
  } catch (error) {
    missed.push({
      bench: name,
      because: String(error instanceof Error ? error.message : error)
        .split("\n")
        .slice(0, 3)
        .join(" ")
        .replaceAll(/\x1b\[\d*m/g, "")
        .slice(0, 300),
    });
  }
  if (!flags.json)
    process.stderr.write(`bench: ${name} (${Math.round((performance.now() - began) / 1000)} s)\n`);
}

const rows = Object.entries(figures)
  .filter(([figure]) => wanted === undefined || measured.has(figure))
  .map(([figure, { title, unit, at_most, at_least }]) => {
    const found = measured.get(figure);
    const hasTarget = at_most !== undefined || at_least !== undefined;
    const isOk =
      found === undefined
        ? null
        : at_most === undefined
          ? found.value >= at_least
          : found.value <= at_most;
    return {
      figure,
      title,
      unit,
      target: !hasTarget ? "none" : at_most === undefined ? `>= ${at_least}` : `<= ${at_most}`,
      measured: found?.value ?? null,
      verdict: isOk === null ? "not measured" : !hasTarget || isOk ? "ok" : "over",
      ...(found?.note === undefined ? {} : { note: found.note }),
    };
  });
const [stolenAfter, ticksAfter] = processorTicks();
const machine = {
  node: process.version,
  cpu: cpus()[0]?.model ?? "unknown",
  cores: availableParallelism(),
  load: loadavg()[0],
  stolen_percent:
    ticksAfter > ticksBefore
      ? (100 * (stolenAfter - stolenBefore)) / (ticksAfter - ticksBefore)
      : 0,
  quick: flags.quick === true,
};

if (flags.json) process.stdout.write(`${JSON.stringify({ machine, rows, missed }, null, 2)}\n`);
else show();
if (flags.strict && (missed.length > 0 || rows.some(({ verdict }) => verdict !== "ok")))
  process.exitCode = 1;

/** Ticks that other virtual machines took while ours wanted to run, and all ticks; zeros where the system does not say. */
function processorTicks() {
  try {
    const ticks = /^cpu +(.*)$/m.exec(readFileSync("/proc/stat", "utf8"))[1].split(" ").map(Number);
    return [ticks[7] ?? 0, ticks.slice(0, 8).reduce((sum, part) => sum + part, 0)];
  } catch {
    return [0, 0];
  }
}

async function bundle(name) {
  const build = await rolldown({
    cwd: root,
    input: { [name]: `bench/${name}.bench.ts` },
    platform: "node",
    external: ["fs-native-extensions", "pg-native", "playwright-core"],
    logLevel: "silent",
  });
  const folder = join(cache, name);
  rmSync(folder, { recursive: true, force: true });
  await build.write({
    dir: folder,
    format: "esm",
    entryFileNames: "[name].mjs",
    chunkFileNames: "[name]-[hash].mjs",
  });
  await build.close();
  return join(folder, `${name}.mjs`);
}

/** A bench prints one JSON object a figure, a line each; anything else goes to stderr. */
function runBench(path) {
  const env = { ...process.env, AUTOPILOT_ROOT: root, BENCH_QUICK: flags.quick ? "1" : "" };
  // Certificates read at every start cost tens of milliseconds and have nothing to do with us.
  delete env.NODE_EXTRA_CA_CERTS;
  delete env.IS_SANDBOX;
  return new Promise((done, fail) => {
    const child = spawn(process.execPath, [path], {
      cwd: root,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const timer = setTimeout(() => child.kill("SIGKILL"), benchMinutesMax * 60_000);
    let out = "";
    let err = "";
    child.stdout.on("data", (chunk) => (out += chunk));
    child.stderr.on("data", (chunk) => (err = (err + chunk).slice(-4000)));
    child.on("error", fail);
    child.on("close", (code) => {
      clearTimeout(timer);
      const found = out
        .split("\n")
        .filter((line) => line.startsWith("{"))
        .map((line) => JSON.parse(line));
      if (code !== 0 && found.length === 0)
        fail(
          new Error(
            `exit ${code}: ${
              err
                .trim()
                .split("\n")
                .find((line) => /Error/.test(line)) ?? err.trim().slice(-300)
            }`,
          ),
        );
      else done(found);
    });
  });
}

function show() {
  const shown = (value) =>
    value === null
      ? "-"
      : value >= 1000
        ? Math.round(value).toLocaleString("en")
        : value.toFixed(2);
  const cells = [
    ["figure", "target", "measured", "", "unit"],
    ...rows.map((row) => [row.title, row.target, shown(row.measured), row.verdict, row.unit]),
  ];
  const widths = cells[0].map((_, column) => Math.max(...cells.map((row) => row[column].length)));
  for (const row of cells)
    process.stdout.write(
      `${row
        .map((cell, column) =>
          column === 2 ? cell.padStart(widths[column]) : cell.padEnd(widths[column]),
        )
        .join("  ")
        .trimEnd()}\n`,
    );
  process.stdout.write(
    `\nnode ${machine.node}, ${machine.cores} x ${machine.cpu}, load ${machine.load.toFixed(1)}, ${machine.stolen_percent.toFixed(1)} % of the processor taken by other machines of its host${machine.stolen_percent > 2 ? " (too much: measure again)" : ""}${machine.quick ? ", quick: few rounds, rough figures" : ""}\n`,
  );
  for (const { title, note } of rows)
    if (note !== undefined) process.stdout.write(`${title}: ${note}\n`);
  for (const { bench, because } of missed)
    process.stdout.write(`not measured: ${bench}: ${because}\n`);
}
