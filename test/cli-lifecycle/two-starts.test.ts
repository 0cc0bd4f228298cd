import { expect, test } from "vitest";
import { scratch, write, scratchFolder } from "../support/scratch-repository.ts";
import { spawn } from "node:child_process";
import { resolve, join } from "node:path";

const entry = resolve("dist/autopilot.cjs");

function start(folder: string, script: string): Promise<{ code: number; reason: string }> {
  return new Promise((done) => {
    const words = ["go", "say hello", "--agent", `scripted:${script}`, "--isolation", "clone", "--max-cycles", "1", "--yes", "--json"];
    const child = spawn(process.execPath, [entry, ...words], { cwd: folder, stdio: ["ignore", "pipe", "ignore"] });
    let out = "";
    child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString("utf8")));
    child.on("close", (code) => done({ code: code ?? 1, reason: (JSON.parse(out) as { reason_code: string }).reason_code }));
  });
}

test("of two starts at the same moment one runs and the other is told of it", async () => {
  const folder = scratch();
  const side = scratchFolder();
  write(side, { "agent.yaml": 'turns:\n  - do: [{ sleep: 3000 }, { write: { path: hello.txt, text: "hello\\n" } }]\n' });
  const ended = await Promise.all([start(folder, join(side, "agent.yaml")), start(folder, join(side, "agent.yaml"))]);
  expect(ended.map(({ reason }) => reason).toSorted()).toEqual(["cycle_cap_reached", "run_open"]);
});
