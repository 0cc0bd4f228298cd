import { describe, expect, test } from "vitest";
import type { Event } from "../../contracts/event.ts";
import { drafted, entryOf, runId, runView } from "../run-view.test-support.ts";
import { toBriefNotice, combineNotices, buildNotices } from "./notices.ts";

const block = "block:1@1/ask#1";
const asked = {
  block,
  question: "Drop the old table?",
  options: { yes: "drop it", no: "keep it" },
};
const opened = {
  event: "block_opened",
  actor: "system",
  reason_code: "ok",
  walk: "1",
  step: "ask",
  hold: true,
  ...asked,
} as const;
const paused = (reason_code: string, detail?: string): Event => ({
  event: "run_paused",
  actor: "system",
  reason_code,
  from_state: "running",
  to_state: "paused",
  ...(detail === undefined ? {} : { detail }),
});
const usage = { tokens: 1, calls: 1, minutes: 0, source: "metered" } as const;
const turn: Event = {
  event: "turn_ended",
  actor: "agent:x",
  reason_code: "ok",
  attempt: "1@1/execute#1",
  agent: "x",
  stop: "end_turn",
  says: {},
  said: "",
  promised: false,
  announced_more: false,
  confidence: null,
  usage,
};
const reported = (event: Event, changes: Parameters<typeof runView>[0] = {}) =>
  buildNotices(entryOf(event, 7), runView({ drafted: drafted(), ...changes }), "shop");

describe("what a person is told of", () => {
  test("a question, once: the pause that follows from it has the same id", () => {
    const [first] = reported(opened);
    expect(first).toMatchObject({
      kind: "needs_you",
      id: `${runId}:${block}`,
      project: "shop",
      next: `autopilot inbox --run ${runId}`,
    });

    expect(first?.text).toContain("Drop the old table?");
    expect(first?.text).toContain("yes: drop it");

    const waits = {
      ...asked,
      cursor: "1",
      step: "ask",
      hold: true,
      house: false,
      recommend: null,
      show: [],
      code: "human_block_open",
    };

    const [again] = reported(paused("human_block_open", asked.question), {
      status: "paused",
      reason: "human_block_open",
      detail: asked.question,
      blocks: { [block]: waits },
    });
    expect(again?.id).toBe(first?.id);
  });

  test.each([
    ["provider_limit_reached", "limit"],
    ["budget_threshold_reached", "limit"],
    ["phase_failed", "failed"],
    ["disk_full", "failed"],
    ["approval_required", "needs_you"],
    ["oracle_changed", "needs_you"],
    ["boundary_reached", "needs_you"],
  ])("a pause for %s is %s", (code, kind) => {
    expect(reported(paused(code)).map((notice) => notice.kind)).toEqual([kind]);
  });

  test("a run's end, and not the pause that its user asked for", () => {
    const ended: Event = {
      event: "run_completed",
      actor: "system",
      reason_code: "completion_verified",
      verdict: "verified",
      gaps: [],
      from_state: "running",
      to_state: "completed",
    };
    expect(reported(ended)[0]).toMatchObject({ kind: "ended", title: "shop: verified" });
    expect(reported(paused("operator_paused"))).toEqual([]);
    expect(
      reported({
        event: "run_started",
        actor: "system",
        reason_code: "ok",
        ack: "0".repeat(64),
        from_state: "draft",
        to_state: "running",
      }),
    ).toEqual([]);
  });

  test("a budget that is nearly used up, by an id that does not change with each turn", () => {
    const at = (tokens: number) =>
      reported(turn, {
        ledger: {
          ...runView().ledger,
          run: { tokens, minutes: 0, calls: 0, usd: 0, estimated: 0 },
        },
      });
    expect(at(100_000)).toEqual([]);
    expect(at(150_000)[0]).toMatchObject({
      kind: "limit",
      id: `${runId}:tokens:180000`,
      title: "shop: 83 % of the tokens budget is used",
    });

    expect(at(160_000)[0]?.id).toBe(at(150_000)[0]?.id);
  });

  test("text from elsewhere stays one line of a title, and bounded", () => {
    const [notice] = buildNotices(
      entryOf({ ...opened, question: `x\u001b]0;evil\u0007\n${"y".repeat(5_000)}` }, 7),
      runView({ drafted: drafted() }),
      "a\nb\r\nBcc: c",
    );
    expect(notice?.title).not.toMatch(/[\r\n\u001b]/);
    expect(notice?.text).not.toMatch(/[\r\u001b\u0007]/);
    expect(notice?.text.length).toBeLessThan(1_000);
  });
});

test("a brief notice holds no word of the goal, the question or the project", () => {
  const [notice] = reported(opened);
  const brief = JSON.stringify(
    toBriefNotice(
      notice ??
        (() => {
          throw new Error("none");
        })(),
    ),
  );
  for (const word of ["table", "shop", "login"]) expect(brief).not.toContain(word);
  expect(brief).toContain("it waits for you");
});

test("a digest counts by kind, names each, and begins with what is most pressing", () => {
  const notices = [
    ...reported(paused("phase_failed")),
    ...reported(opened),
    ...reported(paused("provider_limit_reached")),
  ];
  const digest = combineNotices(notices);
  expect(digest.title).toBe("3 notices: 1 needs you, 1 failed, 1 limit");
  expect(digest.kind).toBe("needs_you");
  const [question] = reported(opened);
  for (const line of question?.text.split("\n") ?? [""]) expect(digest.text).toContain(line);
  for (const { title } of notices) expect(digest.text).toContain(`${title}\n`);
  for (const { kind, next } of notices) {
    if (kind !== "needs_you") expect(digest.text).toContain(`  ${next}`);
  }

  const many = Array.from({ length: 25 }, () => notices[0]).filter(
    (notice) => notice !== undefined,
  );
  expect(combineNotices(many).text).toMatch(/… and 5 more$/);
});
