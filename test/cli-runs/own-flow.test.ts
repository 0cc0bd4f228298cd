// A flow of the user's own, run end to end: prompts, gates, a person, ways back, waves of tasks,
// and a child run.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  autopilot,
  begin,
  eventsOf,
  goScripted,
  goArgs,
  journal,
  runFolderOf,
  until,
} from "../support/autopilot.ts";
import { git, scratchCheckedOnce as scratch, write } from "../support/scratch-repository.ts";

const plan = `flow: craft
version: 1
about: Writes a plan that a person agrees to.
options:
  rounds: { type: count, default: 2, about: how often it may be written again }
  ask: { type: flag, default: true, about: whether a person looks }
counts:
  again: { at_most: option.rounds, per: phase, spent: { end: failed, because: rounds_spent } }
phases:
  - id: plan
    steps:
      - id: write
        agent: planner
        prompt: write.md
        proof:
          - { file: docs/plan.md, exists: true, non_empty: true, min_lines: 3, matches: "^# Plan", fresh: true }
          - { any: "docs/parts/*.md", at_least: 2, except: ["docs/parts/draft-*.md"] }
          - { none: ["docs/**/*.tmp"] }
          - { for_each: { file: docs/plan.md, matches: "^- (\\\\w+)$" }, files: ["docs/parts/{1}.md"] }
          - { command: "grep -q Plan docs/plan.md" }
        otherwise: [{ go: write, count: again }]
      - id: look
        human: { question: "Is this the plan?", options: { A: good, B: once more }, recommend: A }
        only_if: { option.ask: true }
        then: [{ when: { look.answer: B }, go: write, count: again }]
      - { id: prove, check: ["test -s docs/plan.md"] }
after:
  - id: land
    steps: [{ id: merge, run: land, proof: [{ file: docs/plan.md, non_empty: true }] }]
`;
const prompt = "Write the plan for: {goal}\n\nScope:\n{scope}\n\nBefore:\n{previous}\n";
const flowAt = (
  name: string,
  text: string,
  prompts: Readonly<Record<string, string>>,
): Record<string, string> => ({
  [`.autopilot/flows/${name}/flow.yaml`]: text,
  ...Object.fromEntries(
    Object.entries(prompts).map(([file, message]) => [
      `.autopilot/flows/${name}/prompts/${file}`,
      message,
    ]),
  ),
});
const wrote = (text: string) => ({ write: { path: "docs/plan.md", text } });
const parts = ["one", "two"].map((name) => ({
  write: { path: `docs/parts/${name}.md`, text: "part\n" },
}));
const good = (n: number) => ({ do: [wrote(`# Plan ${n}\n- one\n- two\n`), ...parts] });

describe.concurrent("a flow of one's own", () => {
  test("tests that it broke itself do not pass for red ones of before, however often they are looked at", async () => {
    const folder = scratch({
      files: {
        "package.json": JSON.stringify({ name: "x", scripts: { test: "grep -q one src/a.txt" } }),
        "src/a.txt": "one\n",
      },
    });

    const tidy = `flow: tidy
version: 1
lands_nothing: true
counts: { again: { at_most: 2, per: phase, spent: { end: failed, because: rounds_spent } } }
phases:
  - id: tidy
    steps:
      - { id: work, agent: executor, prompt: write.md }
      - { id: prove, check: [project], otherwise: [{ go: work, count: again }] }
`;
    write(folder, flowAt("tidy", tidy, { "write.md": prompt }));
    const broken = (n: number) => ({ do: [{ write: { path: "src/a.txt", text: `two ${n}\n` } }] });

    const { json } = await goScripted(
      folder,
      [broken(1), broken(2), broken(3)],
      ["--flow", "tidy"],
    );
    expect(json.state).toBe("paused");
    expect(eventsOf(folder, "step_failed")).toHaveLength(3);
    expect(eventsOf(folder, "phase_failed")).toMatchObject([{ because: "rounds_spent" }]);
  });

  test("gates send the agent back with what was found, a person sends it back once more, and then it lands", async () => {
    const folder = scratch();
    write(folder, flowAt("craft", plan, { "write.md": prompt }));

    const turns = [
      {
        do: [
          wrote("# Plan\n- one\n"),
          { write: { path: "docs/parts/draft-x.md", text: "x\n" } },
          { write: { path: "docs/a.tmp", text: "x\n" } },
        ],
      },
      { do: [{ delete: { path: "docs/a.tmp" } }, ...good(2).do] },
      good(3),
    ];
    const first = await goScripted(folder, turns, ["--flow", "craft"]);
    expect(first.json).toMatchObject({
      result: "WARN",
      reason_code: "human_block_open",
      state: "paused",
    });

    const [failed] = eventsOf(folder, "step_failed");
    expect(failed).toMatchObject({ reason_code: "proof_missing" });

    for (const rule of [
      /min_lines docs\/plan\.md: found .*2.*expected .*3/,
      /at_least|any/,
      /none docs\/a\.tmp|a\.tmp/,
      /docs\/parts\/one\.md/,
    ]) {
      expect(failed?.["detail"]).toMatch(rule);
    }

    expect((await autopilot(folder, ["inbox", "--json"])).out).toContain("Is this the plan?");
    await autopilot(folder, ["answer", "B", "--json"]);
    expect((await autopilot(folder, ["resume", "--json"])).json).toMatchObject({
      reason_code: "human_block_open",
    });

    await autopilot(folder, ["approve", "--json"]);
    const last = await autopilot(folder, ["resume", "--json"]);
    expect(last.json).toMatchObject({ state: "completed" });
    expect(readFileSync(join(folder, "docs/plan.md"), "utf8")).toBe("# Plan 3\n- one\n- two\n");
    expect(eventsOf(folder, "turn_ended")).toHaveLength(3);
  });

  test("an option bounds the ways back: spent, the phase fails and the run pauses, never completes", async () => {
    const folder = scratch();
    write(folder, flowAt("craft", plan, { "write.md": prompt }));

    const { json } = await goScripted(
      folder,
      [{ do: [wrote("no\n")] }, { do: [wrote("no more\n")] }],
      ["--flow", "craft", "--option", "rounds=1", "--option", "ask=false"],
    );
    expect(json).toMatchObject({ result: "FAIL", reason_code: "phase_failed", state: "paused" });
    expect(eventsOf(folder, "turn_ended")).toHaveLength(2);
    expect(eventsOf(folder, "phase_failed")).toMatchObject([{ because: "rounds_spent" }]);
    expect(existsSync(join(folder, "docs"))).toBe(false);
  });

  test("an artifact that lay there already is not fresh, so it proves nothing", async () => {
    const folder = scratch({
      files: {
        "docs/plan.md": "# Plan\n- one\n- two\n",
        "docs/parts/one.md": "x\n",
        "docs/parts/two.md": "x\n",
      },
    });
    write(folder, flowAt("craft", plan, { "write.md": prompt }));

    const { json } = await goScripted(
      folder,
      [],
      ["--flow", "craft", "--option", "rounds=0", "--option", "ask=false"],
    );
    expect(json).toMatchObject({ result: "FAIL", reason_code: "phase_failed", state: "paused" });
    expect(eventsOf(folder, "step_failed")[0]?.["detail"]).toMatch(/fresh docs\/plan\.md/);
  });

  test("an option that is unknown or of the wrong type is refused by name", async () => {
    const folder = scratch();
    write(folder, flowAt("craft", plan, { "write.md": prompt }));

    for (const option of ["round=1", "rounds=many", "ask=perhaps"]) {
      const { code, json } = await goScripted(folder, [], ["--flow", "craft", "--option", option]);
      expect({ code, reason: json.reason_code }).toEqual({
        code: 2,
        reason: "objective_schema_invalid",
      });

      expect(json.message).toContain(option);
    }
  });

  test("a flow that is wrong is refused with file and line, by lint and by go, and nothing is written", async () => {
    const folder = scratch();
    const broken = plan
      .replace(
        "otherwise: [{ go: write, count: again }]",
        "otherwise: [{ go: wrote, count: again }]",
      )
      .replace("run: land", "run: landing");
    write(folder, flowAt("craft", broken, { "write.md": "{goal} {nonsense}\n" }));
    const lint = await autopilot(folder, ["flow", "lint", "craft", "--json"]);
    expect({ code: lint.code, reason: lint.json.reason_code }).toEqual({
      code: 1,
      reason: "flow_invalid",
    });

    const found = (lint.json["findings"] as { file: string; line: number; rule: string }[]).map(
      ({ file, line, rule }) => `${file.split("/").at(-1)}:${line} ${rule}`,
    );

    const lineOf = (message: string): number =>
      broken.split("\n").findIndex((line) => line.includes(message)) + 1;
    expect(found).toContainEqual(
      expect.stringMatching(new RegExp(`^flow\\.yaml:${lineOf("go: wrote")} `)),
    );

    expect(found).toContainEqual(
      expect.stringMatching(new RegExp(`^flow\\.yaml:${lineOf("run: landing")} unknown_function`)),
    );

    expect(found).toContainEqual(expect.stringMatching(/^write\.md:1 /));
    const go = await goScripted(folder, [], ["--flow", "craft"]);
    expect({ code: go.code, reason: go.json.reason_code }).toEqual({
      code: 1,
      reason: "flow_invalid",
    });

    expect(existsSync(join(folder, ".autopilot/runs"))).toBe(false);
  });

  test("a run finishes on the flow it began with, whatever becomes of the file meanwhile", async () => {
    const folder = scratch();
    write(folder, flowAt("craft", plan, { "write.md": prompt }));
    await goScripted(folder, [good(1)], ["--flow", "craft"]);
    write(folder, flowAt("craft", "flow: craft\nversion: 2\n", { "write.md": "changed" }));
    await autopilot(folder, ["approve", "--json"]);
    expect((await autopilot(folder, ["resume", "--json"])).json).toMatchObject({
      state: "completed",
    });
  });

  test("another flow as a step: the child has its own journal, proves for itself, does not land by itself, and its work lands with its parent's", async () => {
    const folder = scratch();
    const parent = `flow: parent
version: 1
about: Calls another.
phases:
  - id: call
    steps:
      - { id: child, flow: objective, with: { completion_mode: promise, max_cycles: 2 }, proof: [{ file: src/b.txt, fresh: true }], otherwise: [{ end: failed, because: child_failed }] }
      - { id: after, check: ["test -f src/b.txt"] }
after: [{ id: land, steps: [{ id: merge, run: land }] }]
`;
    write(folder, flowAt("parent", parent, {}));
    const head = git(folder, "rev-parse", "HEAD");

    const turns = [
      {
        when: { flow: "objective", role: "executor" },
        do: [
          { write: { path: "src/b.txt", text: "b\n" } },
          { usage: { input: 900, output: 100 } },
          { say: "<promise>DONE</promise>" },
        ],
      },
    ];

    const { json } = await goScripted(folder, turns, [
      "--flow",
      "parent",
      "--max-budget",
      "tokens=50k",
      "--done-criteria",
      "b is there :: test -f src/b.txt",
    ]);

    const ended = eventsOf(folder, "step_completed").find(({ attempt }) =>
      String(attempt).includes("/child#"),
    );
    expect(ended).toMatchObject({ facts: { status: "completed", verdict: "verified" } });
    const { run } = (ended?.["facts"] ?? { run: "" }) as { run: string };
    const child = journal(
      folder,
      join(folder, ".autopilot/runs", String(json.run_id), "children", run),
    );
    expect(child.map(({ event }) => event)).toEqual(
      expect.arrayContaining(["run_drafted", "run_started", "turn_ended", "run_completed"]),
    );

    expect(git(folder, "log", "--format=%s", `${head}..HEAD`)).toBe("make b"); // one commit of the parent's, none of the child's
    expect(git(folder, "show", "HEAD:src/b.txt")).toBe("b");
    expect(git(folder, "show", `autopilot/${run}:src/b.txt`)).toBe("b");
    expect(json.state).toBe("completed");
    // One purse: what the child used is its parent's, and the child had no more than its parent had
    // left.
    expect((await autopilot(folder, ["status", "--json"])).json["budget"]).toMatchObject({
      counters: { tokens: 1000, calls: 1 },
    });

    expect(child[0]).toMatchObject({ limits: { run: { tokens: 50_000 } } });
  });

  test("a child walks the flow its parent was drafted with; one that lands nothing keeps its work to itself", async () => {
    const folder = scratch();
    const parent = `flow: parent
version: 1
phases:
  - id: call
    steps:
      - { id: look, human: { question: "Go on?", options: { A: yes } } }
      - { id: kept, flow: notes }
      - { id: left, flow: trial }
      - { id: after, check: ["test -f NOTES.md"] }
after: [{ id: land, steps: [{ id: merge, run: land }] }]
`;

    const child = (name: string, more: string): string =>
      `flow: ${name}\nversion: 1\n${more}\nphases:\n  - { id: n, steps: [{ id: write, agent: writer, prompt: write.md, proof: [{ file: ${name.toUpperCase()}.md }] }] }\n`;
    const lands = "after: [{ id: land, steps: [{ id: merge, run: land }] }]";
    write(folder, {
      ...flowAt("parent", parent, {}),
      ...flowAt("notes", child("notes", lands), { "write.md": prompt }),
      ...flowAt("trial", child("trial", "lands_nothing: true"), { "write.md": prompt }),
    });

    const writes = (flow: string) => ({
      when: { flow },
      do: [{ write: { path: `${flow.toUpperCase()}.md`, text: `${flow} of this release\n` } }],
    });
    const asked = await goScripted(
      folder,
      [writes("notes"), writes("trial")],
      ["--flow", "parent"],
    );
    expect(asked.json).toMatchObject({ reason_code: "human_block_open" });
    write(folder, flowAt("notes", "flow: notes\nversion: 2\n", { "write.md": "changed" }));
    await autopilot(folder, ["answer", "A", "--json"]);
    expect((await autopilot(folder, ["resume", "--json"])).json).toMatchObject({
      state: "completed",
    });

    expect(git(folder, "ls-tree", "--name-only", "HEAD")).toContain("NOTES.md");
    expect(git(folder, "ls-tree", "--name-only", "HEAD")).not.toContain("TRIAL.md");

    const { facts } = (eventsOf(folder, "step_completed").find(({ attempt }) =>
      String(attempt).includes("/left#"),
    ) ?? {}) as {
      facts?: { run: string };
    };

    expect(git(folder, "show", `autopilot/${facts?.run}:TRIAL.md`)).toBe("trial of this release");
  });

  test("a child that cannot prove itself fails its step", async () => {
    const folder = scratch();
    const parent = `flow: parent
version: 1
lands_nothing: true
phases:
  - id: call
    steps:
      - { id: child, flow: objective, with: { max_cycles: 1 }, otherwise: [{ end: failed, because: child_failed }] }
      - { id: after, check: ["test -d ."] }
`;
    write(folder, flowAt("parent", parent, {}));

    const { json } = await goScripted(
      folder,
      [{ do: [{ say: "<promise>DONE</promise>" }], repeat: 0 }],
      ["--flow", "parent", "--done-criteria", "b :: test -f src/b.txt"],
    );
    expect(json).toMatchObject({ result: "FAIL", reason_code: "phase_failed", state: "paused" });
    expect(eventsOf(folder, "phase_failed")).toMatchObject([{ because: "child_failed" }]);
  });

  test("questions of a child, of its flow and of its agent, wait in its parent's inbox; answered, the same child goes on and pays once", async () => {
    const folder = scratch();
    const parent = `flow: parent
version: 1
phases:
  - id: call
    steps:
      - { id: child, flow: notes, otherwise: [{ end: failed, because: child_failed }] }
      - { id: after, check: ["test -f NOTES.md"] }
after: [{ id: land, steps: [{ id: merge, run: land }] }]
`;

    const notes = `flow: notes
version: 1
phases:
  - id: n
    steps:
      - { id: write, agent: writer, prompt: write.md }
      - { id: look, human: { question: "Publish it?", options: { A: yes, B: no }, recommend: A }, then: [{ when: { look.answer: B }, end: failed, because: refused }] }
      - { id: prove, check: ["grep -q '^in green$' NOTES.md"] }
after: [{ id: land, steps: [{ id: merge, run: land }] }]
`;

    write(folder, {
      ...flowAt("parent", parent, {}),
      ...flowAt("notes", notes, { "write.md": prompt }),
    });

    const spent = { usage: { input: 90, output: 10 } };
    const turns = [
      { when: { flow: "notes" }, do: [spent, { ask: "Which colour?" }] },
      { when: { flow: "notes" }, do: [spent, { write: { path: "NOTES.md", text: "in green\n" } }] },
    ];
    const asked = await goScripted(folder, turns, ["--flow", "parent"]);
    expect(asked.json, asked.err).toMatchObject({
      reason_code: "human_block_open",
      state: "paused",
    });

    expect((await autopilot(folder, ["inbox", "--json"])).json["blocks"]).toMatchObject([
      { question: "Which colour?", options: {} },
    ]);

    expect((await autopilot(folder, ["answer", "green", "--json"])).json).toMatchObject({
      result: "PASS",
    });

    const again = await autopilot(folder, ["resume", "--json"]);
    expect(again.json, again.err).toMatchObject({ reason_code: "human_block_open" });
    expect((await autopilot(folder, ["inbox", "--json"])).json["blocks"]).toMatchObject([
      { question: "Publish it?", options: { A: "yes", B: "no" }, recommend: "A" },
    ]);

    expect((await autopilot(folder, ["answer", "maybe", "--json"])).json).toMatchObject({
      result: "FAIL",
    });

    expect((await autopilot(folder, ["fork", "--yes", "--json"])).json).toMatchObject({
      reason_code: "fork_refused",
    });

    await autopilot(folder, ["answer", "A", "--json"]);
    const last = await autopilot(folder, ["resume", "--json"]);
    expect(last.json, last.err).toMatchObject({ state: "completed" });
    expect(git(folder, "show", "HEAD:NOTES.md")).toBe("in green");
    const attempts = eventsOf(folder, "step_completed").filter(({ attempt }) =>
      String(attempt).includes("/child#"),
    );
    expect(attempts).toHaveLength(3);
    expect(new Set(attempts.map(({ facts }) => (facts as { run: string }).run)).size).toBe(1);
    const runs = join(folder, ".autopilot/runs", String(asked.json.run_id), "children");
    const [child = ""] = readdirSync(runs);
    expect(readdirSync(runs)).toHaveLength(1);
    const lines = journal(folder, join(runs, child));
    expect(lines.filter(({ event }) => event === "turn_ended")).toHaveLength(2);
    expect(lines.filter(({ event }) => event === "block_answered")).toMatchObject([
      { answer: "green", actor: expect.stringMatching(/^operator:/) as string },
      { answer: "A", actor: expect.stringMatching(/^operator:/) as string },
    ]);

    expect((await autopilot(folder, ["status", "--json"])).json["budget"]).toMatchObject({
      counters: { tokens: 200, calls: 2 },
    });

    expect((await autopilot(folder, ["verify", "--json"])).json["chain"]).toMatchObject({
      ok: true,
    });
  });

  test("a parent that is paused while its child works goes on with the same child", async () => {
    const folder = scratch();
    const parent = `flow: parent
version: 1
lands_nothing: true
phases: [{ id: call, steps: [{ id: child, flow: notes }, { id: after, check: ["test -f NOTES.md"] }] }]
`;

    const notes = `flow: notes
version: 1
phases: [{ id: n, steps: [{ id: write, agent: writer, prompt: write.md }, { id: prove, check: ["test -f NOTES.md"] }] }]
after: [{ id: land, steps: [{ id: merge, run: land }] }]
`;

    write(folder, {
      ...flowAt("parent", parent, {}),
      ...flowAt("notes", notes, { "write.md": prompt }),
    });

    const mark = join(dirname(folder), "was-here");
    const waits = { run: `test -f '${mark}' || { touch '${mark}'; sleep 1000; }` };
    const turns = [
      { when: { flow: "notes" }, do: [waits, { write: { path: "NOTES.md", text: "notes\n" } }] },
    ];

    const { ended } = begin(folder, goArgs(folder, turns, ["--flow", "parent"]));
    const runs = (): string => join(runFolderOf(folder), "children");
    const child = (): string => join(runs(), readdirSync(runs())[0] ?? "");
    await until("the child's turn", () => existsSync(mark) && child() !== "");
    expect((await autopilot(folder, ["pause", "--now", "--json"])).json).toMatchObject({
      result: "PASS",
    });

    expect((await ended).json).toMatchObject({ state: "paused" });
    const { json, err } = await autopilot(folder, ["resume", "--json"]);
    expect(json, err).toMatchObject({ state: "completed" });
    expect(readdirSync(runs())).toHaveLength(1);
  });
});
