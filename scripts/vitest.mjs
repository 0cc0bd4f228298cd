// Runs vitest with the words given. Root on Linux with memory to spare has it in namespaces of its own: temporary folders are in memory, so that no test waits
// for a disk; the process table holds the suite's processes only, so that each look through it is short, and what a test leaves running
// ends with the suite. Elsewhere it runs as it is.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmdirSync } from "node:fs";
import { freemem, tmpdir } from "node:os";
import { join } from "node:path";

const vitest = [
  process.execPath,
  join(import.meta.dirname, "../node_modules/vitest/vitest.mjs"),
  ...process.argv.slice(2),
];
/** The first process of a namespace inherits what others leave behind; a shell waits for all of it. */
const inMemory = [
  "--mount",
  "--pid",
  "--fork",
  "--kill-child",
  "--mount-proc",
  "sh",
  "-c",
  'mount -t tmpfs tmpfs "$TMPDIR" && "$@"; exit $?',
  "sh",
];

const folder = mkdtempSync(join(tmpdir(), "mem-"));
const env = { ...process.env, TMPDIR: folder, TEST_NAMESPACE: "1" };
const enoughBytes = 8 * 2 ** 30; // a file system in memory takes up to half of it
const isPossible =
  process.platform === "linux" &&
  process.getuid?.() === 0 &&
  freemem() >= enoughBytes &&
  spawnSync("unshare", [...inMemory, "true"], { env }).status === 0;
const [command, ...words] = isPossible ? ["unshare", ...inMemory, ...vitest] : vitest;
const before = processorSeconds();
const child = spawn(command, words, { env: isPossible ? env : process.env, stdio: "inherit" });
/** The first process of a namespace hears no signal but the last one. */
const graceMs = 5_000;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    child.kill(signal);
    setTimeout(() => child.kill("SIGKILL"), graceMs).unref();
  });
}
child.on("close", (code, signal) => {
  rmdirSync(folder);
  sayWhatItTook(before, processorSeconds());
  process.exit(signal === null ? code : 1);
});

/** How long this machine's processors have worked, and how long the host gave them to others: on a shared host seconds say little without. */
function processorSeconds() {
  if (process.platform !== "linux") return null;
  const [user, nice, system, , , irq, softirq, steal] = readFileSync("/proc/stat", "utf8")
    .split("\n", 1)[0]
    .split(/\s+/)
    .slice(1)
    .map(Number);
  return { worked: (user + nice + system + irq + softirq) / 100, stolen: steal / 100 };
}

function sayWhatItTook(from, to) {
  if (from === null || to === null) return;
  const [worked, stolen] = [to.worked - from.worked, to.stolen - from.stolen].map(Math.round);
  process.stdout.write(`processors: ${worked} s at work, ${stolen} s taken by the host\n`);
}
