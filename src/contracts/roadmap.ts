// roadmap: types of a parsed roadmap and of a phase's plan. They keep positions, because every
// later message names a line.

import * as v from "valibot";
import { Expectation } from "./evidence.ts";
import { breakerEntries } from "./tunable-limits.ts";
import { complexities } from "./roadmap-values.ts";

const text = v.string();
const line = v.pipe(v.number(), v.integer(), v.minValue(1));
const count = v.pipe(v.number(), v.integer(), v.minValue(0));

/** An integer or a decimal, its parts without leading zeros: `3`, `2.10`. */
export const PhaseId = v.pipe(
  v.string(),
  v.regex(/^\d{1,9}(\.\d{1,9}){0,3}$/, "expected a phase id: 3, 2.1"),
);
export type PhaseId = v.InferOutput<typeof PhaseId>;

/** One success criterion; without a command it stays unverified until a plan brings one. */
export const CheckedCriterion = v.strictObject({
  text,
  command: v.nullable(text),
  expect: v.nullable(Expectation),
  line,
});
export type CheckedCriterion = v.InferOutput<typeof CheckedCriterion>;

export const RoadmapPhase = v.strictObject({
  id: PhaseId,
  name: text,
  goal: text,
  depends_on: v.array(PhaseId),
  requirements: v.array(text),
  success_criteria: v.array(CheckedCriterion),
  checked: v.boolean(),
  inserted: v.boolean(),
  /** The goal says nothing yet: the phase is refused unless a plan exists. */
  stub: v.boolean(),
  /** Of the section's heading; of the checklist line if there is no section. */
  line,
});
export type RoadmapPhase = v.InferOutput<typeof RoadmapPhase>;

export const taskTypes = ["auto", "checkpoint:human-verify"] as const;

/**
 * A task of a plan. A field that was not written is empty: lint reports it, the reader continues.
 */
export const PlanTask = v.strictObject({
  id: text,
  title: text,
  type: v.picklist(taskTypes),
  complexity: v.nullable(v.picklist(complexities)),
  /** The number of the `## Wave N` heading above it; null if the plan has none. */
  wave: v.nullable(count),
  after: v.array(text),
  files: v.array(text),
  action: text,
  verify: v.array(CheckedCriterion),
  done: text,
  requirements: v.array(text),
  line,
});
export type PlanTask = v.InferOutput<typeof PlanTask>;

export const Plan = v.strictObject({
  /**
   * Which tasks fulfil which requirement: from the traceability table, the front matter, and the
   * tasks themselves.
   */
  requirements: v.array(v.strictObject({ id: text, tasks: v.array(text), line })),
  must_haves: v.array(text),
  /** Checks for the phase's own criteria, in the roadmap's order, if the plan lists them. */
  criteria: v.array(CheckedCriterion),
  tasks: v.array(PlanTask),
});
export type Plan = v.InferOutput<typeof Plan>;

const nullableText = v.nullish(text);
const relativePath = v.pipe(
  text,
  v.check(
    (path) =>
      path !== "" && !/^[/\\~]|^[A-Za-z]:/.test(path) && !path.split(/[/\\]/).includes(".."),
    "expected a path inside the project",
  ),
);

/**
 * `.planning/config.json`, as far as it is ours: other tools keep their own keys in it, which are
 * left alone.
 */
export const PlanningConfig = v.looseObject({
  mode: v.optional(text),
  depth: v.optional(text),
  parallelization: v.optional(v.union([v.boolean(), v.looseObject({})])),
  commit_docs: v.optional(v.boolean()),
  model_profile: v.optional(text),
  workflow: v.optional(
    v.looseObject({
      research: v.optional(v.boolean()),
      plan_check: v.optional(v.boolean()),
      verifier: v.optional(v.boolean()),
    }),
  ),
  project: v.optional(
    v.looseObject({
      spec_paths: v.optional(v.array(relativePath)),
      commands: v.optional(
        v.looseObject({
          compile: v.optional(nullableText),
          test: v.optional(nullableText),
          lint: v.optional(nullableText),
          build: v.optional(nullableText),
        }),
      ),
      ui: v.optional(v.looseObject({ source_dir: v.optional(nullableText) })),
    }),
  ),
  circuit_breaker_config: v.optional(v.looseObject(breakerEntries)),
});
export type PlanningConfig = v.InferOutput<typeof PlanningConfig>;
