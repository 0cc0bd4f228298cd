import { expect, test } from "vitest";
import { submissionLimits, openSubmissions, type ValidateReturn } from "./submissions.ts";

const validateReturn: ValidateReturn = (name, value) => {
  const count = (value as { count?: unknown }).count;
  return typeof count === "number"
    ? { claim: value, says: { count } }
    : { errors: [`${name}: count: expected a number`, "second"] };
};
const returns = { name: "tally", schema: { type: "object" }, isOptional: false };
const open = () => openSubmissions(returns, validateReturn);

test("a result that does not fit is answered with every mistake, and one that fits counts", async () => {
  const submissions = open();
  const refused = await submissions.onTool("submit_result", { count: "three" });
  expect(refused).toMatchObject({
    ok: false,
    text: expect.stringContaining("- tally: count: expected a number\n- second") as string,
  });

  expect(submissions.accepted()).toBe(null);
  expect(submissions.mistakes()).toHaveLength(2);
  expect(await submissions.onTool("submit_result", { count: 3 })).toMatchObject({ ok: true });
  expect(submissions.accepted()).toEqual({ claim: { count: 3 }, says: { count: 3 } });
});

test("the last accepted result counts, whatever is refused after it", async () => {
  const submissions = open();
  await submissions.onTool("submit_result", { count: 1 });
  await submissions.onTool("submit_result", { count: 2 });
  await submissions.onTool("submit_result", {});
  expect(submissions.accepted()?.says).toEqual({ count: 2 });
});

test("where nothing is asked for, nothing is taken", async () => {
  expect(
    await openSubmissions(null, validateReturn).onTool("submit_result", { count: 1 }),
  ).toMatchObject({ ok: false });
});

test("a question is kept with its options, and the agent is told to end its turn", async () => {
  const submissions = open();
  expect(
    await submissions.onTool("ask_human", { question: " Which? ", options: ["a", "b", 7] }),
  ).toMatchObject({
    ok: true,
    text: expect.stringContaining("end your turn now") as string,
  });

  expect([submissions.question(), submissions.options()]).toEqual(["Which?", ["a", "b"]]);
  expect(await submissions.onTool("ask_human", { question: "" })).toMatchObject({ ok: false });
  expect(await submissions.onTool("ask_human", "Which?")).toMatchObject({ ok: false });
});

test("notes are bounded in number and length", async () => {
  const submissions = open();
  for (let n = 0; n < submissionLimits.notesMax; n += 1) {
    expect(await submissions.onTool("note", { text: "x".repeat(10_000) })).toMatchObject({
      ok: true,
    });
  }

  expect(await submissions.onTool("note", { text: "one more" })).toMatchObject({ ok: false });
  expect(submissions.notes()).toHaveLength(20);
  expect(submissions.notes()[0]?.length).toBe(2001);
});

test("a tool nobody knows, and a call too many, are refused in words", async () => {
  const submissions = open();
  expect(await submissions.onTool("rm", {})).toMatchObject({
    ok: false,
    text: expect.stringContaining('"rm"') as string,
  });

  for (let n = 0; n < submissionLimits.callsMax; n += 1) await submissions.onTool("note", {});
  expect(await submissions.onTool("submit_result", { count: 1 })).toMatchObject({
    ok: false,
    text: expect.stringContaining("Too many") as string,
  });
});
