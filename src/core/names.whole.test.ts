// The core knows no flow: renaming all their steps, roles, counts and functions changes nothing.

import { describe, expect, test } from "vitest";
import type { Flow, Row, Step, When } from "../contracts/flow.ts";
import { flowNamed } from "../../test/simulation/support/flows.ts";
import { live } from "../../test/simulation/support/scenarios.ts";
import { stories } from "../../test/simulation/support/stories.ts";

const to = (name: string): string => `zz_${name}`;
const isGiven = <T>(value: T | undefined): value is T => value !== undefined;

/** The same flow under other names. */
function renamed(flow: Flow): Flow {
  const factOf = (name: string): string => {
    const [head = "", first = "", second = "", ...rest] = name.split(".");
    if (head === "option") return name;
    if (head === "count") return `count.${to(first)}`;
    if (head === "before") return ["before", first, to(second), ...rest].join(".");

    return [to(head), ...name.split(".").slice(1)].join(".");
  };
  const when = (rule: When): When =>
    Object.fromEntries(Object.entries(rule).map(([name, want]) => [factOf(name), want]));

  const row = <R extends Row>(rule: R): R => ({
    ...rule,
    ...(isGiven(rule.when) ? { when: when(rule.when) } : {}),
    ...(typeof rule.go === "string" ? { go: to(rule.go) } : {}),
    ...(isGiven(rule.count) ? { count: to(rule.count) } : {}),
  });

  const step = (rule: Step): Step => ({
    ...rule,
    id: to(rule.id),
    ...(isGiven(rule.agent) ? { agent: to(rule.agent) } : {}),
    ...(isGiven(rule.run) ? { run: to(rule.run) } : {}),
    ...(isGiven(rule.sees) ? { sees: rule.sees.map(to) } : {}),
    ...(isGiven(rule.only_if) ? { only_if: when(rule.only_if) } : {}),
    ...(isGiven(rule.unless) ? { unless: rule.unless.map(when) } : {}),
    ...(isGiven(rule.then) ? { then: rule.then.map(row) } : {}),
    ...(isGiven(rule.otherwise) ? { otherwise: rule.otherwise.map(row) } : {}),
    ...(isGiven(rule.tasks)
      ? {
          tasks: {
            ...rule.tasks,
            read: to(rule.tasks.read),
            each: rule.tasks.each.map(step),
            ...(isGiven(rule.tasks.wave) ? { wave: rule.tasks.wave.map(step) } : {}),
          },
        }
      : {}),
    ...(isGiven(rule.human) && /^[a-z]+\.says\./.test(rule.human.question)
      ? { human: { ...rule.human, question: to(rule.human.question) } }
      : {}),
  });

  const phases = <P extends { steps: Step[]; only_if?: When | undefined }>(
    list: readonly P[],
  ): P[] =>
    list.map((phase) => ({
      ...phase,
      steps: phase.steps.map(step),
      ...(isGiven(phase.only_if) ? { only_if: when(phase.only_if) } : {}),
    }));

  return {
    ...flow,
    flow: to(flow.flow),
    ...(isGiven(flow.counts)
      ? {
          counts: Object.fromEntries(
            Object.entries(flow.counts).map(([name, rule]) => [
              to(name),
              { ...rule, spent: row(rule.spent) },
            ]),
          ),
        }
      : {}),
    ...(isGiven(flow.when_step_fails) ? { when_step_fails: flow.when_step_fails.map(row) } : {}),
    phases: Array.isArray(flow.phases) ? phases(flow.phases) : flow.phases,
    ...(isGiven(flow.before) ? { before: phases(flow.before) } : {}),
    ...(isGiven(flow.after) ? { after: phases(flow.after) } : {}),
    ...(isGiven(flow.steps) ? { steps: flow.steps.map(step) } : {}),
    ...(isGiven(flow.closing) ? { closing: flow.closing.map(step) } : {}),
  };
}

describe("every step, role, count and function renamed: the same decisions", () => {
  for (const [name, story] of Object.entries(stories)) {
    test(name, { timeout: 60_000 }, () => {
      const plain = live(story);
      const plan = story.script.plan;

      const other = live(
        {
          ...story,
          files: (story.files ?? []).map((file) => file.replace("/", "/zz_")),
          script: {
            ...story.script,
            plan: (asked) =>
              plan({ ...asked, step: asked.step.replace(/^zz_/, ""), run: unnamed(asked.run) }),
          },
          ...(story.user === undefined
            ? {}
            : { user: (run, why) => named(story.user?.(unnamed(run), why) ?? null) }),
        },
        { flow: renamed(flowNamed(story.flow)) },
      );

      const textOf = (entries: readonly object[]): string =>
        JSON.stringify(entries.slice(1)).replaceAll("zz_", "");
      expect(textOf(other.tape.entries)).toBe(textOf(plain.tape.entries));
    });
  }
});

const unnamed = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll("zz_", "")) as T;
/** People answer in plain words; the block's own id is the renamed one. */
function named<T>(requests: T): T {
  const text = JSON.stringify(requests, (key, value: unknown) =>
    key === "block" && typeof value === "string"
      ? value.replaceAll(/\/([a-z_-]+)(?=[#!])/g, "/zz_$1")
      : value,
  );
  return JSON.parse(text) as T;
}
