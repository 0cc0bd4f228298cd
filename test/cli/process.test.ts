// The command line as a process: what it writes, when its reader is slow or gone, and with which
// code it leaves. The terminal's side is bundled alone, so that this says something about it and
// nothing about the rest.

import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, expect, test } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "autopilot-cli-"));
const script = join(folder, "speak.cjs");
const lines = 200_000;

beforeAll(async () => {
  const from = resolve(import.meta.dirname, "../../src/surfaces/cli");
  const source = join(folder, "speak.mts");
  writeFileSync(
    source,
    `import { writeSync } from "node:fs";
     import { startProcess as begin } from ${JSON.stringify(join(from, "start-process.ts"))};
     import { createProcessIo } from ${JSON.stringify(join(from, "process-io.ts"))};
     const io = createProcessIo();
     if (process.argv[2] === "flood") for (let n = 0; n < ${lines}; n += 1) io.write("out", "line " + n + "\\n");
     if (process.argv[2] === "naive") { try { for (;;) writeSync(1, "x".repeat(5_000_000)); } catch (error) { process.stderr.write(error.code); process.exit(0); } }
     if (process.argv[2] === "whole") io.write("out", "x".repeat(5_000_000) + "\\n");
     if (process.argv[2] === "answer") begin(async (argv, own) => { own.write("out", "the answer\\n"); own.write("err", "still there\\n"); return 0; });
     else if (process.argv[2] === "never") begin(() => new Promise(() => undefined));
     else if (process.argv[2] === "wait") { io.onInterrupt(({ code }) => { io.write("out", "asked " + code + "\\n"); process.exit(0); }); setInterval(() => undefined, 1000); io.write("out", "ready\\n"); }
     else { io.write("err", "end\\n"); process.exit(0); }`,
  );

  const build = await rolldown({ input: source, platform: "node", logLevel: "silent" });
  await build.write({ file: script, format: "cjs" });
  await build.close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("a slow reader loses nothing, though the process ends right after writing", async () => {
  const child = spawn(process.execPath, [script, "whole"], { stdio: ["ignore", "pipe", "pipe"] });
  let bytes = 0;

  for await (const chunk of child.stdout) {
    bytes += (chunk as Buffer).length;
    await new Promise((wake) => setTimeout(wake, 1));
  }

  expect(bytes).toBe(5_000_001);
});

// Python makes the pipe, because Node cannot set O_NONBLOCK on one it hands to a child.
const hasPython = spawnSync("python3", ["--version"]).status === 0;

/**
 * Runs the script with a pipe that never blocks and a reader that comes late; says how many bytes
 * came, and what stderr held.
 */
function throughPipe(mode: string): string {
  const reader = `
import os, subprocess, time
r, w = os.pipe(); os.set_blocking(w, False)
p = subprocess.Popen([${JSON.stringify(process.execPath)}, ${JSON.stringify(script)}, "${mode}"], stdout=w, stderr=subprocess.PIPE); os.close(w)
time.sleep(0.5); n = 0
while True:
    b = os.read(r, 65536)
    if not b: break
    n += len(b)
print(n, p.stderr.read().decode().strip(), p.wait())`;
  return spawnSync("python3", ["-c", reader], { encoding: "utf8" }).stdout.trim();
}

test.skipIf(!hasPython)(
  "a pipe that never blocks loses nothing either (skipped without Python, which makes the pipe)",
  () => {
    expect(throughPipe("naive")).toMatch(/EAGAIN 0$/); // the fault fires where nobody minds it
    expect(throughPipe("whole")).toBe("5000001 end 0");
  },
);

test("a reader that goes away is no error", async () => {
  const child = spawn(process.execPath, [script, "flood"], { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  child.stdout.once("data", () => child.stdout.destroy());
  const code = await new Promise((end) => child.once("close", end));
  expect({ code, said }).toEqual({ code: 0, said: "end\n" });
});

test.skipIf(!existsSync("/dev/full"))(
  "a full disk behind the answer is told in a sentence and is no success, and one behind the progress changes nothing (skipped without /dev/full)",
  () => {
    const written = (to: string): string =>
      spawnSync(
        "/bin/sh",
        ["-c", `"$0" "$1" answer ${to}; echo "code $?"`, process.execPath, script],
        { encoding: "utf8" },
      ).stdout;
    expect(written("2>&1 >/dev/full")).toMatch(
      /^still there\n✗ The answer could not be written: ENOSPC.*\ncode 1\n$/,
    );

    expect(written("2>/dev/full")).toBe("the answer\ncode 0\n");
  },
);

test("an interrupt reaches whoever listens, and the process is not simply gone", async () => {
  const child = spawn(process.execPath, [script, "wait"], { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  child.stdout.on("data", (chunk: Buffer) => {
    said += chunk.toString();
    if (said === "ready\n") child.kill("SIGINT");
  });

  const code = await new Promise((end) => child.once("close", end));
  expect({ code, said }).toEqual({ code: 0, said: "ready\nasked 130\n" });
});

test("a command that waits for what never comes ends with an error that says so, never in silence", () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, "never"], {
    encoding: "utf8",
  });

  expect({ status, stdout }).toEqual({ status: 70, stdout: "" });
  expect(stderr).toContain("the command waits for something that never comes");
  const { status: code, stdout: json } = spawnSync(process.execPath, [script, "never", "--json"], {
    encoding: "utf8",
  });
  expect([code, JSON.parse(json)]).toMatchObject([
    70,
    { result: "FAIL", reason_code: "internal_error" },
  ]);
});
