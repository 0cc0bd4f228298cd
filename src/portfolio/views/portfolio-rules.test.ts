import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { portfolioTaskStatuses } from "../../contracts/portfolio/portfolio.ts";
import { type LineRules, openViolations, type Violations } from "../../documents/line-rules.ts";
import { renderSnapshot } from "./front-matter.ts";
import {
  judgeSnapshot,
  openPortfolioCheckpointRules,
  openPortfolioEventRules,
} from "./portfolio-rules.ts";
import { openTraceRules } from "../../playbooks/roadmap/views/trace-rules.ts";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

const event = {
  ts: "2026-02-27T09:30:00Z",
  event_type: "task_status_changed",
  project_id: "proj-web",
  task_id: "task-login-4f9k2a",
  block_id: null,
  from_status: "ready",
  to_status: "running",
  actor: "planner",
  summary: "dispatched",
  evidence: [],
};
const checkpoint = {
  ts: "2026-02-27T09:30:00+01:00",
  scope: "project",
  scope_id: "proj-web",
  window_start: "2026-02-27T09:00:00Z",
  window_end: "2026-02-27T09:30:00Z",
  summary: "one of three done",
  key_metrics: { task_count: 3 },
};
const span = {
  timestamp: "2026-02-27T09:30:00Z",
  phase_id: "1",
  step: "execute",
  action: "command_run",
  input_summary: "npm test",
  output_summary: "ok",
  duration_ms: 1200,
  status: "success",
};

function reported(
  open: (violations: Violations) => LineRules,
  ...records: readonly (object | string)[]
): string[] {
  const violations = openViolations();
  const rules = open(violations);

  for (const [at, record] of records.entries()) {
    rules.checkLine(typeof record === "string" ? record : JSON.stringify(record), at + 1);
  }

  rules.finish();
  return violations
    .list()
    .map(
      ({ line, rule, severity }) => `${line} ${rule}${severity === "warning" ? " (warning)" : ""}`,
    );
}

describe("a portfolio's events", () => {
  test("are in order with every required field, null where that is allowed, and more than the format knows", () => {
    const more = {
      ...event,
      meta: { why: "free slot" },
      priority: 3,
      worker_backend: "acp",
      mood: "good",
      event_type: "plan_proposed",
    };

    const portfolio = {
      ...event,
      project_id: null,
      task_id: null,
      from_status: null,
      to_status: null,
      event_type: "planner_tick",
    };
    expect(reported(openPortfolioEventRules, event, more, portfolio, "")).toEqual([]);
  });

  test.each(Object.keys(event))("%s is required", (key) => {
    const rest = Object.fromEntries(Object.entries(event).filter(([name]) => name !== key));
    expect(reported(openPortfolioEventRules, event, rest)).toEqual(["2 PF-field"]);
    expect(reported(openPortfolioEventRules, { ...event, [key]: 7 })).toEqual(["1 PF-field"]);
  });

  test("a word that is none of those allowed is told", () => {
    expect(
      reported(
        openPortfolioEventRules,
        { ...event, actor: "robot" },
        { ...event, to_status: "finished" },
      ),
    ).toEqual(["1 PF-enum", "2 PF-enum"]);
  });

  test("an id that is none is told; a line that is no object too", () => {
    expect(reported(openPortfolioEventRules, { ...event, task_id: "4711" }, "[]", "{")).toEqual([
      "1 PF-field",
      "2 PF-json",
      "3 PF-json",
    ]);
  });

  test("a step between statuses that autopilot would not take is a warning", () => {
    const step = (from_status: string, to_status: string) =>
      reported(openPortfolioEventRules, { ...event, from_status, to_status });
    expect(step("done", "running")).toEqual(["1 PF-step (warning)"]);
    expect(step("running", "ready")).toEqual([]);
    expect(portfolioTaskStatuses.filter((status) => step("canceled", status).length === 0)).toEqual(
      ["canceled"],
    );
  });
});

describe("a portfolio's checkpoints", () => {
  test.each(Object.keys(checkpoint))("%s is required", (key) => {
    const rest = Object.fromEntries(Object.entries(checkpoint).filter(([name]) => name !== key));
    expect(reported(openPortfolioCheckpointRules, checkpoint)).toEqual([]);
    expect(reported(openPortfolioCheckpointRules, rest)[0]).toBe("1 PF-field");
  });

  test("scope and scope_id speak of one thing", () => {
    expect(
      reported(openPortfolioCheckpointRules, {
        ...checkpoint,
        scope: "portfolio",
        scope_id: "portfolio",
      }),
    ).toEqual([]);

    expect(reported(openPortfolioCheckpointRules, { ...checkpoint, scope: "portfolio" })).toEqual([
      "1 PF-field",
    ]);

    expect(reported(openPortfolioCheckpointRules, { ...checkpoint, scope: "world" })).toEqual([
      "1 PF-enum",
    ]);
  });
});

describe("a snapshot", () => {
  const head =
    "---\ntask_id: task-login-4f9k2a\nproject_id: proj-web\nstatus: running\npriority: 3\nstarted_at: null\n---\n# Login\n";
  const judged = (text: string, idInName: string | null = "task-login-4f9k2a") =>
    judgeSnapshot({ kind: "task", file: "tasks/x.md", text, idInName }, sha256).map(
      ({ line, rule, severity }) => `${line} ${rule} ${severity}`,
    );

  test("is in order by the data at its head", () => {
    expect(judged(head)).toEqual([]);
    expect(
      judgeSnapshot(
        {
          kind: "project",
          file: "p.md",
          text: "---\nproject_id: proj-web\nname: Web\n---\n",
          idInName: "proj-web",
        },
        sha256,
      ),
    ).toEqual([]);

    expect(
      judgeSnapshot(
        {
          kind: "portfolio",
          file: "portfolio.md",
          text: "---\nplanner_heartbeat_at: 2026-02-27T09:30:00Z\n---\n",
          idInName: null,
        },
        sha256,
      ),
    ).toEqual([]);
  });

  test("without data can only be warned about", () => {
    expect(judged("# Login\n")).toEqual(["1 PF-head warning"]);
  });

  test("is held to its fields and to the name of its file, with the line in the file", () => {
    expect(judged(head.replace("status: running", "status: busy"))).toEqual(["4 PF-field error"]);
    expect(judged(head.replace("status: running\n", ""))).toEqual(["2 PF-field error"]);
    expect(judged(head, "task-logout-4f9k2a")).toEqual(["2 PF-id error"]);
  });

  test("with data that is no YAML, does not end or has a key twice is told", () => {
    expect(judged("---\na: [\n---\n")[0]).toMatch(/PF-head error/);
    expect(judged("---\ntask_id: x\n")).toEqual(["1 PF-head error"]);
    expect(judged(head.replace("priority: 3", "status: done"))).toEqual(["5 PF-head error"]);
  });
});

describe("a page with a digest", () => {
  const fields = {
    task_id: "task-login-4f9k2a",
    project_id: "proj-web",
    status: "running",
    priority: 3,
  };
  const page = renderSnapshot(fields, ["# Login", "", "as it \u001b[31mis\u001b[0m"], sha256);
  const judged = (text: string) =>
    judgeSnapshot({ kind: "task", file: "tasks/x.md", text, idInName: null }, sha256).map(
      ({ line, rule }) => `${line} ${rule}`,
    );

  test("must fit what it says, in its head and its body", () => {
    expect(judged(page)).toEqual([]);
    expect(judged(page.replace("as it", "as it never"))).toEqual(["6 PF-digest"]);
    expect(judged(page.replace("priority: 3", "priority: 4"))).toEqual(["6 PF-digest"]);
    expect(judged(page.slice(0, -3))).toEqual(["6 PF-digest"]);
  });

  test("holds no character that moves a terminal", () => {
    expect(page).not.toContain("\u001b");
    expect(page).toContain(String.raw`\x1b[31mis`);
  });

  test("holds none in its head either, and its values stay the same", () => {
    const objective = "a\u202eb\u009b31mc\u{e0041}\u2028d";
    const withSigns = renderSnapshot({ ...fields, objective }, [], sha256);
    expect(withSigns).toContain(String.raw`objective: "a\u202eb\u009b31mc\udb40\udc41\u2028d"`);
    expect(JSON.parse(/^objective: (.*)$/m.exec(withSigns)?.[1] ?? "")).toBe(objective);
    expect(judged(withSigns)).toEqual([]);
  });
});

describe("trace spans", () => {
  test.each(Object.keys(span))("%s is required", (key) => {
    const rest = Object.fromEntries(Object.entries(span).filter(([name]) => name !== key));
    expect(reported(openTraceRules, span, rest, { ...span, more: 1 })).toEqual(["2 TR-field"]);
  });

  test("have one of the steps, actions and statuses, and summaries of at most 200 characters", () => {
    expect(
      reported(
        openTraceRules,
        { ...span, step: "dance" },
        { ...span, action: "wave" },
        { ...span, status: "ok" },
      ),
    ).toEqual(["1 TR-enum", "2 TR-enum", "3 TR-enum"]);

    expect(
      reported(openTraceRules, { ...span, input_summary: "x".repeat(201) }, "nothing"),
    ).toEqual(["1 TR-field", "2 TR-json"]);
  });
});
