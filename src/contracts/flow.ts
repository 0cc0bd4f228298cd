// flow: the schema of the flow language. Strict data: no expressions, no closures; code is referred
// to by name. The words are explained in docs/FLOWS.md; lint (../flows) finds what a schema cannot
// see.

import * as v from "valibot";
import { Name } from "./ids.ts";

const Scalar = v.union([v.string(), v.number(), v.boolean()]);
export type Scalar = v.InferOutput<typeof Scalar>;

/** A number, or the option that holds it: `option.max_cycles`. */
export const NumberOrOption = v.union([
  v.number(),
  v.pipe(v.string(), v.regex(/^option\.[a-z][a-z0-9_-]*$/, "expected a number or option.<name>")),
]);
export type NumberOrOption = v.InferOutput<typeof NumberOrOption>;

/** What a fact is compared with: equal, one of, below, at least. */
export const Want = v.union([
  Scalar,
  v.pipe(v.array(Scalar), v.minLength(1)),
  v.strictObject({ below: NumberOrOption }),
  v.strictObject({ min: NumberOrOption }),
]);
export type Want = v.InferOutput<typeof Want>;

/** Facts that must all hold. An absent fact matches nothing. */
export const When = v.record(v.string(), Want);
export type When = v.InferOutput<typeof When>;

/**
 * One line of a step's `then` or `otherwise`: when it matches, where it goes, which count it uses.
 */
export const Row = v.strictObject({
  when: v.optional(When),
  go: v.optional(v.union([Name, v.strictObject({ phase: v.string() })])),
  end: v.optional(v.picklist(["completed", "failed"])),
  stop: v.optional(Name),
  ask: v.optional(v.record(v.string(), v.string())),
  recommend: v.optional(v.string()),
  again: v.optional(v.literal(true)),
  pause: v.optional(Name),
  rest: v.optional(Name),
  count: v.optional(Name),
  because: v.optional(Name),
});
export type Row = v.InferOutput<typeof Row>;

/**
 * What happens when a phase has failed: the others first (`finish`), at once (`pause`), or the end
 * (`stop`).
 */
export const PhaseRow = v.strictObject({
  when: v.optional(When),
  finish: v.optional(Name),
  pause: v.optional(Name),
  stop: v.optional(Name),
});
export type PhaseRow = v.InferOutput<typeof PhaseRow>;

export const Count = v.strictObject({
  at_most: NumberOrOption,
  per: v.picklist(["phase", "task", "run", "invocation"]),
  retry: v.optional(v.boolean()),
  spent: Row,
});
export type Count = v.InferOutput<typeof Count>;

export const Option = v.strictObject({
  type: v.picklist(["flag", "count", "number", "word"]),
  one_of: v.optional(v.array(v.string())),
  default: v.optional(Scalar),
  about: v.optional(v.string()),
});
export type Option = v.InferOutput<typeof Option>;

export const Limits = v.strictObject({
  tokens: v.optional(v.pipe(v.number(), v.minValue(1))),
  minutes: v.optional(v.pipe(v.number(), v.minValue(0))),
  calls: v.optional(v.pipe(v.number(), v.minValue(1))),
  usd: v.optional(v.pipe(v.number(), v.minValue(0))),
  retries: v.optional(v.pipe(v.number(), v.minValue(0))),
});
export type Limits = v.InferOutput<typeof Limits>;

/** An artifact rule; every word it has must hold. See docs/FLOWS.md, "Gate words". */
export type Gate = {
  file?: string | undefined;
  files?: string[] | undefined;
  any?: string | undefined;
  none?: string[] | undefined;
  exists?: boolean | undefined;
  non_empty?: boolean | undefined;
  min_lines?: number | undefined;
  matches?: string | undefined;
  at_least?: number | undefined;
  except?: string[] | undefined;
  fresh?: boolean | undefined;
  after?: string | undefined;
  for_each?: { file: string; matches: string } | undefined;
  if?: Gate | undefined;
  all?: Proof[] | undefined;
  else?: Proof[] | undefined;
  command?: string | undefined;
};
export type Proof = string | Gate;

export const Gate: v.GenericSchema<Gate> = v.strictObject({
  file: v.optional(v.string()),
  files: v.optional(v.array(v.string())),
  any: v.optional(v.string()),
  none: v.optional(v.array(v.string())),
  exists: v.optional(v.boolean()),
  non_empty: v.optional(v.boolean()),
  min_lines: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
  matches: v.optional(v.string()),
  at_least: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
  except: v.optional(v.array(v.string())),
  fresh: v.optional(v.boolean()),
  after: v.optional(v.string()),
  for_each: v.optional(v.strictObject({ file: v.string(), matches: v.string() })),
  if: v.optional(v.lazy(() => Gate)),
  all: v.optional(v.array(v.lazy(() => Proof))),
  else: v.optional(v.array(v.lazy(() => Proof))),
  command: v.optional(v.string()),
});
/** A named proof from the registry, or an artifact rule. */
export const Proof: v.GenericSchema<Proof> = v.union([Name, Gate]);

export const Human = v.strictObject({
  question: v.string(),
  options: v.optional(v.record(v.string(), v.string())),
  free: v.optional(v.boolean()),
  takes: v.optional(Name),
  recommend: v.optional(v.string()),
  /** Why that answer is recommended, in a few words. */
  why: v.optional(v.string()),
  /** The answer that ends the current invocation; the next one continues. */
  leaves: v.optional(v.string()),
  show: v.optional(v.array(v.string())),
  preset: v.optional(v.array(v.strictObject({ when: When, answer: v.string() }))),
  meanwhile: v.optional(v.picklist(["hold", "go_on"])),
  /** The reason code of the pause while it is unanswered; default `human_block_open`. */
  code: v.optional(Name),
});
export type Human = v.InferOutput<typeof Human>;

export const stepKinds = ["agent", "run", "check", "tasks", "human", "flow"] as const;
export type StepKind = (typeof stepKinds)[number];

export type Tasks = {
  read: string;
  /** The file a reader such as `tasks_file` reads, relative to the project. */
  from?: string | undefined;
  parallel?: number | undefined;
  leave?: Record<string, string> | undefined;
  failed?: "finish_wave" | "go_on" | undefined;
  each: Step[];
  wave?: Step[] | undefined;
};

export type Step = {
  id: string;
  agent?: string | undefined;
  run?: string | undefined;
  check?: string[] | undefined;
  tasks?: Tasks | undefined;
  human?: Human | undefined;
  flow?: string | undefined;
  with?: Record<string, Scalar> | undefined;
  prompt?: string | undefined;
  returns?: string | undefined;
  returns_optional?: boolean | undefined;
  /** How often an invalid return is asked for again; it is then no reason for another attempt. */
  corrections?: number | undefined;
  proof?: Proof[] | undefined;
  sees?: string[] | undefined;
  masks?: string[] | undefined;
  /** Only these paths of its changes are applied; the rest stays in the layer. */
  keeps?: string[] | undefined;
  continues?: string | undefined;
  writes?: string[] | undefined;
  limits?: Limits | undefined;
  estimate?: number | undefined;
  retry?: number | undefined;
  commit?: boolean | undefined;
  only_if?: When | undefined;
  unless?: When[] | undefined;
  then?: Row[] | undefined;
  otherwise?: Row[] | undefined;
};

/** How often an agent is asked for an invalid return again in one turn. */
export const correctionsMax = 2;

const Retry = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(20));

/** A step: exactly one of agent, run, check, tasks, human, flow (enforced by lint). */
export const Step: v.GenericSchema<Step> = v.strictObject({
  id: Name,
  agent: v.optional(Name),
  run: v.optional(Name),
  check: v.optional(v.pipe(v.array(v.string()), v.minLength(1))),
  tasks: v.optional(
    v.strictObject({
      read: Name,
      from: v.optional(v.string()),
      parallel: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(64))),
      leave: v.optional(v.record(v.string(), v.string())),
      failed: v.optional(v.picklist(["finish_wave", "go_on"])),
      each: v.array(v.lazy(() => Step)),
      wave: v.optional(v.array(v.lazy(() => Step))),
    }),
  ),
  human: v.optional(Human),
  flow: v.optional(Name),
  with: v.optional(v.record(v.string(), Scalar)),
  prompt: v.optional(v.string()),
  returns: v.optional(v.string()),
  returns_optional: v.optional(v.boolean()),
  corrections: v.optional(
    v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(correctionsMax)),
  ),
  proof: v.optional(v.array(Proof)),
  sees: v.optional(v.array(v.string())),
  masks: v.optional(v.array(v.string())),
  keeps: v.optional(v.pipe(v.array(v.string()), v.minLength(1))),
  continues: v.optional(Name),
  writes: v.optional(v.array(v.string())),
  limits: v.optional(Limits),
  estimate: v.optional(v.pipe(v.number(), v.minValue(0))),
  retry: v.optional(Retry),
  commit: v.optional(v.boolean()),
  only_if: v.optional(When),
  unless: v.optional(v.array(When)),
  then: v.optional(v.array(Row)),
  otherwise: v.optional(v.array(Row)),
});

export const Phase = v.strictObject({
  id: v.pipe(
    v.string(),
    v.regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/, "expected a phase id: letters, digits, _ . -"),
  ),
  name: v.optional(v.string()),
  only_if: v.optional(When),
  unless: v.optional(v.array(When)),
  limits: v.optional(Limits),
  /** Counts as passed if a later phase is found proved. */
  optional: v.optional(v.literal(true)),
  /**
   * Rules that show, without running anything, that it is done; default: the file rules of its
   * agents' steps.
   */
  proof: v.optional(v.array(Proof)),
  steps: v.pipe(v.array(Step), v.minLength(1)),
});
export type Phase = v.InferOutput<typeof Phase>;

/** Phases that a named reader takes from the user's documents; they all run the flow's `steps`. */
export const ReadPhases = v.strictObject({
  read: Name,
  order: v.optional(v.picklist(["listed", "dependencies"])),
  needs: v.optional(v.picklist(["completed"])),
  parallel: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(64))),
});
export type ReadPhases = v.InferOutput<typeof ReadPhases>;

export const Flow = v.strictObject({
  flow: Name,
  version: v.pipe(v.number(), v.integer(), v.minValue(1)),
  about: v.optional(v.string()),
  /**
   * The playbook whose documents it follows, and whose files show its runs to people and to other
   * tools.
   */
  playbook: v.optional(Name),
  /** Where the documents of a phase are, for `{phase_dir}`: a path with `{phase}` in it. */
  phase_dir: v.optional(
    v.pipe(v.string(), v.includes("{phase}", "expected a path that holds {phase}")),
  ),
  options: v.optional(v.record(Name, Option)),
  counts: v.optional(v.record(Name, Count)),
  limits: v.optional(
    v.strictObject({
      run: v.optional(Limits),
      phase: v.optional(Limits),
      step: v.optional(Limits),
    }),
  ),
  defaults: v.optional(
    v.strictObject({
      step: v.optional(
        v.strictObject({ retry: v.optional(Retry), fresh: v.optional(v.boolean()) }),
      ),
    }),
  ),
  when_step_fails: v.optional(v.array(Row)),
  when_phase_fails: v.optional(v.array(PhaseRow)),
  pause_every: v.optional(v.strictObject({ phases: NumberOrOption })),
  reopen: v.optional(
    v.strictObject({ failed_phase: v.pipe(v.number(), v.integer(), v.minValue(0)) }),
  ),
  enter: v.optional(v.picklist(["first", "first_unproved"])),
  recheck: v.optional(v.picklist(["none", "phase", "all"])),
  lands_nothing: v.optional(v.literal(true)),
  before: v.optional(v.array(Phase)),
  phases: v.union([v.pipe(v.array(Phase), v.minLength(1)), ReadPhases]),
  steps: v.optional(v.array(Step)),
  closing: v.optional(v.array(Step)),
  after: v.optional(v.array(Phase)),
});
export type Flow = v.InferOutput<typeof Flow>;

/** The kind of a step. */
export function stepKind(step: Step): StepKind {
  const kind = stepKinds.find((name) => step[name] !== undefined);
  if (kind === undefined) throw new Error(`step ${step.id} is of no kind`);
  return kind;
}
