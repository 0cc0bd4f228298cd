import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterEach, beforeEach, expect, test } from "vitest";
import { bytePathFromText as path } from "../git/byte-path.ts";
import { NotRead, withFolder } from "./fd-walk.ts";

let room = "";
beforeEach(() => {
  room = mkdtempSync(join(tmpdir(), "autopilot-walk-"));
  mkdirSync(join(room, "layer/a"), { recursive: true });
  mkdirSync(join(room, "outside"));
  writeFileSync(join(room, "layer/a/file"), "inside");
  writeFileSync(join(room, "outside/file"), "SECRET");
});
afterEach(() => rmSync(room, { recursive: true, force: true }));

const read = (folder: string, name: string): string =>
  withFolder(join(room, "layer"), path(folder), (held) => {
    const pieces: string[] = [];
    held.read(path(name), (piece) => pieces.push(piece.toString("utf8")), 1000);
    return pieces.join("");
  });

const leaksByPath = (): number => {
  try {
    return readFileSync(join(room, "layer/a/file"), "utf8") === "SECRET" ? 1 : 0;
  } catch {
    return 0;
  }
};

test("a swapper racing thousands of reads never gets the secret out", async () => {
  const swapper = new Worker(
    `const fs = require("node:fs"); const { workerData: room, parentPort } = require("node:worker_threads");
     let on = true, swaps = 0; parentPort.on("message", () => { on = false; });
     const turn = () => { for (let i = 0; i < 100; i++) {
       fs.renameSync(room + "/layer/a", room + "/kept"); fs.symlinkSync("../outside", room + "/layer/a"); swaps++;
       fs.unlinkSync(room + "/layer/a"); fs.renameSync(room + "/kept", room + "/layer/a"); }
       if (on) setImmediate(turn); else parentPort.postMessage(swaps); };
     turn();`,
    { eval: true, workerData: room },
  );

  const seen = { inside: 0, refused: 0, leaked: 0, leakedByPath: 0 };
  for (
    let tries = 0;
    tries < 5000 || ((seen.refused === 0 || seen.leakedByPath === 0) && tries < 500_000);
    tries += 1
  ) {
    seen.leakedByPath += leaksByPath();
    try {
      seen[read("a", "file") === "inside" ? "inside" : "leaked"] += 1;
    } catch (error) {
      if (!(error instanceof NotRead)) throw error;
      seen.refused += 1;
    }
  }

  const swaps = await new Promise<unknown>((resolve) => {
    swapper.on("message", resolve);
    swapper.postMessage("stop");
  });

  await swapper.terminate();
  expect(seen.leaked).toBe(0);
  expect(swaps).toBeGreaterThan(0);
  expect(seen.refused).toBeGreaterThan(0);
  // The control: reading by the whole path does get it out, so the race was on.
  expect(seen.leakedByPath).toBeGreaterThan(0);
});
