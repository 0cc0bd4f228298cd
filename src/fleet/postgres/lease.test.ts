import { expect, test } from "vitest";
import { failureFrom } from "../../journal/scene.test-support.ts";
import type { QueryResult, Database } from "./connect.ts";
import { leaseClock, takeRun } from "./lease.ts";

const holder = { pid: 1, host: "here", worker: "one" };
const row = { epoch: "2", seq: "0", bytes: "0", head: Buffer.alloc(32) };

/** Answers one question after the other. */
const answering = (...answers: readonly (readonly Record<string, unknown>[])[]): Database => {
  const left = [...answers];
  const query = (): Promise<QueryResult> => Promise.resolve({ rows: left.shift() ?? [], count: 0 });
  return {
    name: "store",
    query,
    queryOften: query,
    inTransaction: (work) => work(query),
    close: () => Promise.resolve(),
  };
};
const taken = (database: Database): ReturnType<typeof takeRun> =>
  takeRun(database, { run: "r", kind: "run", holder, leaseMs: 8_000, clock: leaseClock });

test("a run that is given back while it is looked who has it is taken", async () => {
  expect(await taken(answering([], [], [], [row]))).toMatchObject({ epoch: 2 });
});

test("a run that somebody has is refused with who it is", async () => {
  const failure = await failureFrom(
    taken(answering([], [], [{ owner: { pid: 7, host: "there" } }])),
  );
  expect(failure.trouble).toEqual({ kind: "run_locked", pid: 7, host: "there" });
});
