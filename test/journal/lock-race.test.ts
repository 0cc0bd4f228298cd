// One owner, however many processes race for the run, and however the last one died.

import type { ChildProcessByStdio } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { rolldown } from "rolldown";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { openJournal } from "../../src/journal/file-journal.ts";
import { findOwner } from "../../src/journal/owner.ts";
import { verifyJournal } from "../../src/journal/read.ts";
import {
  failureFrom,
  freshFolder,
  skipped,
  still,
  sweep,
} from "../../src/journal/scene.test-support.ts";
import { isLong } from "../support/sampled.ts";

type Answer = { owner?: number; kind?: string; pid?: number | null; ended?: boolean };
type Racer = {
  readonly child: ChildProcessByStdio<Writable, Readable, null>;
  readonly ask: (line: string) => void;
  readonly next: () => Promise<Answer | number | null>;
};

// Under node_modules, so that the native addon is found from there.
const program = `node_modules/.cache/journal-racer-${process.pid}.mjs`;
const racers: Racer[] = [];

beforeAll(async () => {
  const bundle = await rolldown({
    input: "test/journal/racer.ts",
    external: ["fs-native-extensions"],
    platform: "node",
  });
  await bundle.write({ file: program, format: "esm", codeSplitting: false });
  await bundle.close();
});
afterEach(async () => {
  for (const { child } of racers.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill("SIGKILL");
    await once(child, "exit");
  }
});
afterAll(() => {
  rmSync(program, { force: true });
  sweep();
});

function start(): Racer {
  const child = spawn(process.execPath, [program], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();

  const racer: Racer = {
    child,
    ask: (line) => void child.stdin.write(`${line}\n`),
    next: async () => {
      const { value, done } = (await lines.next()) as { value?: string; done?: boolean };
      return done === true || value === undefined ? null : (JSON.parse(value) as Answer | number);
    },
  };
  racers.push(racer);
  return racer;
}

test("sixteen processes start together again and again, and each time one owns the run and the others can name it", async () => {
  const sixteen = Array.from({ length: 16 }, start);
  for (const { ask, next } of sixteen) {
    ask("end");
    await next();
  }

  for (let round = 0; round < (isLong ? 30 : 10); round++) {
    const dir = freshFolder();
    // Every third run exists already, with a journal and the name of an owner long gone.
    if (round % 3 === 0) {
      const { journal } = await openJournal(dir, still);
      journal.appendSync([skipped(1)]);
      await journal.close();
    }

    const at = Date.now() + 40;
    for (const { ask } of sixteen) ask(`race ${dir} ${at}`);
    const answers = (await Promise.all(sixteen.map(({ next }) => next()))) as Answer[];
    const owners = answers.flatMap(({ owner }) => owner ?? []);
    expect(owners).toHaveLength(1);
    expect(answers.filter(({ kind }) => kind === "run_locked").map(({ pid }) => pid)).toEqual(
      Array.from({ length: 15 }, () => owners[0]),
    );

    for (const { ask } of sixteen) ask("end");
    await Promise.all(sixteen.map(({ next }) => next()));
  }
});

test("kill -9 in the middle of writing frees the run at once and loses nothing acknowledged", async () => {
  const dir = freshFolder();
  let acknowledgedBefore = 0;

  for (let round = 0; round < (isLong ? 8 : 4); round++) {
    const racer = start();
    racer.ask(`write ${dir}`);
    expect(await racer.next()).toEqual({ owner: racer.child.pid });
    expect(await failureFrom(openJournal(dir, still))).toMatchObject({
      kind: "run_locked",
      trouble: { pid: racer.child.pid },
    });

    expect(findOwner(dir)).toMatchObject({ pid: racer.child.pid });

    let acknowledged = 0;
    for (let n = 0; n < 20 + round; n++) acknowledged = Number(await racer.next());
    racer.child.kill("SIGKILL");

    for (let answer = await racer.next(); answer !== null; answer = await racer.next()) {
      acknowledged = Number(answer);
    }

    if (racer.child.signalCode === null) await once(racer.child, "exit");
    expect(racer.child.signalCode).toBe("SIGKILL");

    expect(findOwner(dir)).toBeNull();
    const { journal } = await openJournal(dir, { ...still, onEntry: () => undefined });
    const { seq, epoch } = journal.position;
    expect(epoch).toBeGreaterThan(round);
    expect(seq - acknowledgedBefore).toBeGreaterThanOrEqual(acknowledged);
    acknowledgedBefore = seq;
    await journal.close();
    expect(verifyJournal(dir)).toMatchObject({ ok: true, events: seq, torn_bytes: 0 });
  }
});
