// Appends of several runs in one statement, against a database that answers as it is told.

import { DatabaseError } from "pg";
import { expect, test } from "vitest";
import type { Query, QueryResult } from "./connect.ts";
import { type Append, openGroupAppend } from "./group-append.ts";

const append = (run: string, ...lines: readonly string[]): Append => ({
  run,
  epoch: 1,
  expectedTip: { seq: 0, head: Buffer.alloc(1) },
  newTip: { seq: lines.length, head: Buffer.alloc(1, 1) },
  lines: lines.map((line) => Buffer.from(line)),
  under: null,
});

type Asked = {
  readonly runs: readonly string[];
  readonly values: readonly unknown[];
  readonly answer: (given: QueryResult | Error) => void;
};

/** A database that answers when the test does. */
function database(): {
  readonly query: Query;
  readonly asked: Asked[];
  readonly next: (count: number) => Promise<Asked>;
} {
  const asked: Asked[] = [];
  const query: Query = (_sql, values = []) =>
    new Promise((resolve, reject) => {
      const runs = Array.isArray(values[0])
        ? (values[0] as readonly string[])
        : [String(values[0])];

      asked.push({
        runs,
        values,
        answer: (given) => (given instanceof Error ? reject(given) : resolve(given)),
      });
    });

  const next = async (count: number): Promise<Asked> => {
    await expect.poll(() => asked.length).toBe(count);
    return asked[count - 1] as Asked;
  };

  return { query, asked, next };
}
const one = (kept: boolean): QueryResult => ({ rows: [], count: kept ? 1 : 0 });
const places = (...kept: readonly number[]): QueryResult => ({
  rows: [{ kept: kept.join(" ") }],
  count: 1,
});

test("a lone append is sent at once; what comes meanwhile goes together with the next statement", async () => {
  const { query, asked, next } = database();
  const send = openGroupAppend({ queryOften: query });
  const first = send(append("a", "1"));
  const alone = await next(1);
  const others = [send(append("b", "1", "22")), send(append("c", "333"))];
  alone.answer(one(true));
  const together = await next(2);
  expect([alone.runs, together.runs]).toEqual([["a"], ["b", "c"]]);
  expect(together.values.slice(5, 8), "the lines of each, and how many bytes").toEqual([
    "{1,3}",
    "{2,3}",
    "{5,4}",
  ]);

  expect(
    together.values.slice(8),
    "all lines, and where each begins, how long it is and whose",
  ).toEqual([Buffer.from("122333"), "{1,2,4}", "{1,2,3}", "{1,1,2}"]);

  together.answer(places(1, 2));
  expect(await Promise.all([first, ...others])).toEqual([true, true, true]);
  expect(asked).toHaveLength(2);
});

test("a run that is fenced off leaves the others of its statement kept", async () => {
  const { query, next } = database();
  const send = openGroupAppend({ queryOften: query });
  const sent = [send(append("a", "1")), send(append("b", "1")), send(append("c", "1"))];
  (await next(1)).answer(places(1, 3));
  expect(await Promise.all(sent)).toEqual([true, false, true]);
});

test("an append under a second lease is sent by itself", async () => {
  const { query, asked, next } = database();
  const send = openGroupAppend({ queryOften: query });
  const planned = { ...append("p", "1"), under: { run: "planner", epoch: 7 } };

  const sent = [
    send(append("a", "1")),
    send(append("b", "1")),
    send(planned),
    send(append("c", "1")),
  ];

  await next(3);
  expect(asked.map(({ runs }) => runs)).toEqual([["a", "b"], ["p"], ["c"]]);
  expect(asked[1]?.values.slice(7)).toEqual(["planner", 7]);
  asked[0]?.answer(places(1, 2));
  asked[1]?.answer({ rows: [{ kept: false }], count: 1 });
  asked[2]?.answer(one(true));
  expect(await Promise.all(sent)).toEqual([true, true, false, true]);
});

test("a statement's bytes are bounded, those of its first append counted", async () => {
  const { query, asked, next } = database();
  const send = openGroupAppend({ queryOften: query });
  const long = "x".repeat(5 * 1024 * 1024);
  const sent = [send(append("a", long)), send(append("b", long)), send(append("c", "1"))];
  const second = await next(2);
  expect(asked.map(({ runs }) => runs)).toEqual([["a"], ["b", "c"]]);
  asked[0]?.answer(one(true));
  second.answer(places(1, 2));
  expect(await Promise.all(sent)).toEqual([true, true, true]);
  expect(asked).toHaveLength(2);
});

test("an answer that does not come holds nobody else up", async () => {
  const { query, next } = database();
  const send = openGroupAppend({ queryOften: query });
  const silent = send(append("a", "1"));
  const unanswered = await next(1);
  const other = send(append("b", "1"));
  (await next(2)).answer(one(true));
  expect(await other).toBe(true);
  unanswered.answer(one(true));
  expect(await silent).toBe(true);
});

test("what the server refuses is sent run by run: one run's failure is not another's", async () => {
  const { query, asked, next } = database();
  const send = openGroupAppend({ queryOften: query });
  const sent = Promise.allSettled([send(append("a", "1")), send(append("b", "1"))]);
  (await next(1)).answer(new DatabaseError("no room", 7, "error"));
  await next(3);
  asked[1]?.answer(one(true));
  asked[2]?.answer(new DatabaseError("no room", 7, "error"));
  expect((await sent).map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
});

test("where it is unknown whether a statement was carried out, nothing is sent again", async () => {
  const { query, asked, next } = database();
  const send = openGroupAppend({ queryOften: query });
  const sent = Promise.allSettled([send(append("a", "1")), send(append("b", "1"))]);
  (await next(1)).answer(new Error("Connection terminated"));
  expect((await sent).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(asked).toHaveLength(1);
});
