import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import type { Entry } from "../../contracts/event.ts";
import { openFold } from "../../core/fold.ts";
import type { RunView } from "../../core/state.ts";
import { listAttention } from "./attention.ts";
import { buildCostView } from "./cost.ts";
import { splitPatch, parseHunks } from "./hunks.ts";
import { toLogRow } from "./log-rows.ts";
import { statusPage } from "../status-page.ts";
import { goalRest, buildRunCard } from "./run-card.ts";
import { openRunIndex } from "./run-index.ts";
import { buildWaterfall } from "./waterfall.ts";

const golden = resolve(
  import.meta.dirname,
  "../../../test/golden/journals/0.1.0-people/journal.jsonl",
);
const entries = readFileSync(golden, "utf8")
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => JSON.parse(line) as Entry);
/** So many of its lines end with a question that waits. */
const linesAsking = 51;

function read(lines: number) {
  const fold = openFold();
  const book = openRunIndex();

  for (const entry of entries.slice(0, lines)) {
    fold.apply(entry);
    book.apply(entry);
  }

  return { view: fold.state as RunView, index: book.index };
}
const around = { key: "k", project: "shop", owner: null, foreign: false };

test("a question that waits is something for a person, with what waiting costs and what its answer is bound to", () => {
  const { view, index } = read(linesAsking);
  const [ask, second] = listAttention(view, {
    ...around,
    asked: index.asked,
    hashQuestionOf: (block, question) => `${block} ${question}`.slice(0, 20),
  });
  expect(second).toBeUndefined();
  expect(ask).toMatchObject({
    kind: "Question",
    id: "block:after.land@1/approve#1",
    project: "shop",
  });

  expect(ask?.asked_at).toBe(
    entries.findLast((entry, at) => at < linesAsking && entry.event === "block_opened")?.ts,
  );

  expect(ask?.options.map(({ key }) => key)).toContain("A");
  expect(ask?.content).not.toBe("");
});

test("answers that a fork copied from its parent are counted there", () => {
  const { apply, index } = openRunIndex();
  for (const entry of entries.slice(0, linesAsking + 1)) apply(entry);
  expect(index.answers).toHaveLength(1);
  const at = entries[linesAsking + 1];
  apply({ ...at, event: "run_forked", run: "run-1", at: linesAsking + 1 } as unknown as Entry);
  expect(index.answers).toEqual([]);
  expect(index.asked).not.toEqual({});
});

test("a run that came to rest by itself is not called interrupted", () => {
  const { view, index } = read(linesAsking - 20);
  const resting: RunView = { ...view, status: "running", blocks: {}, resting: "cycle_cap_reached" };
  const crashed: RunView = { ...resting, resting: null };
  const pauses = (run: RunView) =>
    listAttention(run, { ...around, asked: index.asked, hashQuestionOf: () => "" });
  expect(buildRunCard(crashed, { ...around, ended: null })).toMatchObject({
    state: "interrupted",
    word: "interrupted",
  });

  expect(pauses(crashed)).toMatchObject([
    { kind: "Paused", question: expect.stringContaining("was interrupted") as unknown },
  ]);

  expect(buildRunCard(resting, { ...around, ended: null })).toMatchObject({
    state: "running",
    word: "resting",
    reason: "cycle_cap_reached",
  });

  expect(pauses(resting)).toMatchObject([
    { kind: "Paused", question: expect.not.stringContaining("interrupted") as unknown },
  ]);
});

test("a run that is paused for a question says so when it is answered, and asks for nothing but a resume", () => {
  const { view, index } = read(linesAsking + 1);
  expect(entries[linesAsking]).toMatchObject({ event: "block_answered" });
  expect(view.status).toBe("paused");

  const [found, second] = listAttention(view, {
    ...around,
    asked: index.asked,
    hashQuestionOf: () => "",
  });
  expect(second).toBeUndefined();
  expect(found).toMatchObject({
    kind: "Paused",
    question: "Your answer is recorded. The run goes on when you resume it.",
    show: [],
  });

  expect(found?.commands[0]).toContain("autopilot resume");
  expect(buildRunCard(view, { ...around, ended: null })).toMatchObject({
    word: "paused",
    reason: "block_answered",
    isHeldByQuestion: false,
  });

  expect(buildRunCard(read(linesAsking).view, { ...around, ended: null })).toMatchObject({
    isHeldByQuestion: true,
  });

  expect(statusPage(view, null).join("\n")).not.toMatch(/waiting for your answer|Why/);
});

test("a card names a run by the first line of its goal; the rest is not lost", () => {
  const { view } = read(linesAsking);
  const goal = "sell pears\n\nAn earlier attempt was given back.\nevent_nonce: 0c8d";
  const told = {
    ...view,
    drafted: { ...view.drafted, objective: { ...view.drafted.objective, goal } },
  };
  expect(buildRunCard(told, { ...around, ended: null }).goal).toBe("sell pears");
  expect(goalRest(goal)).toBe("An earlier attempt was given back.\nevent_nonce: 0c8d");
});

test("attempts have a beginning and an end, pauses too, and nothing that ended is still open", () => {
  const { view, index } = read(entries.length);
  const started = entries.filter(({ event }) => event === "step_started").length;
  expect(
    index.spans.filter(({ kind }) => kind !== "human" && kind !== "pause" && kind !== "parked"),
  ).toHaveLength(started);

  expect(index.spans.filter(({ ended }) => ended === null)).toEqual([]);
  const { rows } = buildWaterfall(view, index, { now: "2030-01-01T00:00:00.000Z", isAll: true });
  expect(rows.filter(({ depth }) => depth === 0).length).toBeGreaterThan(0);
  for (const { bar } of rows) if (bar !== null) expect(bar.to).toBeGreaterThanOrEqual(bar.from);
});

test("spending by day, role and agent adds up to the ledger", () => {
  const { view, index } = read(entries.length);
  const sum = index.usage.reduce((total, { tokens }) => total + tokens, 0);
  expect(sum).toBe(view.ledger.run.tokens);
  expect(index.points.at(-1)?.tokens).toBe(sum);
  const now = entries.at(-1)?.ts ?? "";
  const cost = buildCostView(
    index.usage.map((row) => ({ ...row, project: "shop" })),
    now,
  );
  expect(cost.window.tokens).toBe(sum);
  expect(cost.by.project.groups).toMatchObject([{ name: "shop", share: sum === 0 ? 0 : 1 }]);
});

test("a card and the log say what the run's own pages say", () => {
  const { view, index } = read(entries.length);
  expect(buildRunCard(view, { ...around, ended: index.ended })).toMatchObject({
    run: view.drafted.run_id,
    state: view.status,
    verdict: view.verdict,
    goal: view.drafted.objective.goal,
  });

  const rows = entries.map(toLogRow);
  expect(rows.map(({ seq }) => seq)).toEqual(entries.map(({ seq }) => seq));
  expect(rows.find(({ event }) => event === "block_opened")).toMatchObject({ shape: "you" });
});

test("a patch is read with the numbers of its lines, whatever it holds", () => {
  const patch = [
    "diff --git a/x b/x",
    "new file mode 100644",
    "--- a/x",
    "+++ b/x",
    "@@ -1,2 +1,3 @@ head",
    " a",
    "-b",
    "+B",
    "+--- not a header",
    "\\ No newline at end of file",
    "",
  ].join("\n");

  const { lines, cut } = parseHunks(patch);
  expect(cut).toBe(false);
  expect(lines.map(({ mark, oldNumber: old, newNumber: now }) => [mark, old, now])).toEqual([
    ["!", null, null],
    ["@", null, null],
    [" ", 1, 1],
    ["-", 2, null],
    ["+", null, 2],
    ["+", null, 3],
    ["!", null, null],
  ]);

  expect(splitPatch(`${patch}${patch.replaceAll("/x", "/y")}`).map(({ path }) => path)).toEqual([
    "x",
    "y",
  ]);
});

test("a huge patch and a huge line are cut, and say so", () => {
  const many = `@@ -1 +1 @@\n${"+x\n".repeat(10_000)}`;
  expect(parseHunks(many)).toMatchObject({ cut: true });
  expect(parseHunks(many).lines).toHaveLength(3_000);
  const [, line] = parseHunks(`@@ -1 +1 @@\n+${"y".repeat(5_000_000)}`).lines;
  expect(line?.text.length).toBeLessThan(2_100);
  expect(line?.text).toContain("4998000 more characters");
  expect(parseHunks("Binary files a/x and b/x differ").lines).toMatchObject([{ mark: "!" }]);
});
