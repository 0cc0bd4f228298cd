// evidence: schemas of checks, their results and evidence, changes to protected tests, and checked
// claims.

import * as v from "valibot";
import { GitSha, Hash } from "./ids.ts";

const count = v.pipe(v.number(), v.integer(), v.minValue(0));
/** What a check's output must match; if absent, the exit code decides. */
export const Expectation = v.variant("kind", [
  v.strictObject({ kind: v.literal("at_least"), count }),
  v.strictObject({ kind: v.literal("exactly"), count }),
  v.strictObject({ kind: v.literal("text"), text: v.string() }),
]);
export type Expectation = v.InferOutput<typeof Expectation>;

/**
 * One command that decides something: where it came from, and how to run it. `id` is stable within
 * a run.
 */
export const Check = v.strictObject({
  id: v.string(),
  kind: v.picklist(["criterion", "project", "red_green", "holdout", "proof", "restore"]),
  title: v.string(),
  command: v.string(),
  source: v.string(),
  expect: v.optional(Expectation),
  /**
   * Chosen by a planner beside a command that a person gave for the same phase: if it shows little,
   * nothing is missing.
   */
  extra: v.optional(v.literal(true)),
});
export type Check = v.InferOutput<typeof Check>;

/** `flaky`: on the same tree it sometimes passed and sometimes did not, which proves nothing. */
export const CheckStatus = v.picklist([
  "passed",
  "failed",
  "flaky",
  "timed_out",
  "not_found",
  "not_runnable",
]);
export type CheckStatus = v.InferOutput<typeof CheckStatus>;

/**
 * What a command reported of the tests it ran. `empty`: test files that ended well and ran none.
 */
export const TestTally = v.strictObject({
  ran: count,
  failed: count,
  skipped: count,
  empty: v.optional(count),
});
export type TestTally = v.InferOutput<typeof TestTally>;

/**
 * Which tests a command reported by name. `whole`: groups of which it names every failure, so that
 * the others have passed.
 */
export const TestNames = v.strictObject({
  passed: v.array(v.string()),
  failed: v.array(v.string()),
  whole: v.array(v.string()),
});
export type TestNames = v.InferOutput<typeof TestNames>;

/**
 * The result of an experiment on a check: something it should notice was broken on purpose, and it
 * was run again. `noticed`: it turned red, as it must. `missed`: it stayed green, though before the
 * work it would not have. `differs`: other tests failed too. `partly`: some of the tests its pass
 * rests on did not notice. `unknown`: undecided.
 */
export const Experiment = v.strictObject({
  outcome: v.picklist(["noticed", "missed", "differs", "partly", "unknown"]),
  detail: v.string(),
});
export type Experiment = v.InferOutput<typeof Experiment>;

/**
 * What test runners reported over a channel that the output does not touch. `isWhole`: it reports
 * as many tests as the output, so results are taken from it. `replaced`: built-ins of the language
 * that differed at the end. `unended`: processes and runners whose tests never ended.
 */
export const Recorded = v.strictObject({
  runners: v.array(v.string()),
  isWhole: v.boolean(),
  replaced: v.array(v.string()),
  unended: count,
});
export type Recorded = v.InferOutput<typeof Recorded>;

/** Evidence: what the runner recorded by running one command. A verdict rests on nothing else. */
export const Evidence = v.strictObject({
  check: Check,
  argv: v.array(v.string()),
  cwd: v.string(),
  isolation: v.string(),
  env_hash: Hash,
  commit: v.nullable(GitSha),
  tree_before: v.nullable(GitSha),
  tree_after: v.nullable(GitSha),
  status: CheckStatus,
  exit_code: v.nullable(v.number()),
  signal: v.nullable(v.string()),
  duration_ms: v.number(),
  output_hash: v.nullable(Hash),
  output_bytes: v.number(),
  output_excerpt: v.string(),
  at: v.string(),
  product: v.string(),
  /** Its result each time, if it was run more than once on this tree. */
  repeats: v.optional(v.array(CheckStatus)),
  /**
   * Paths that were taken from the base for this run, because the agent may not change the files
   * that judge it.
   */
  oracles: v.optional(v.array(v.string())),
  /** A hash of the installed packages that were copied beside the tree, by their metadata. */
  dependencies: v.optional(Hash),
  /** How many tests it reported, and how many before anything was changed, if that was compared. */
  tests: v.optional(TestTally),
  tests_before: v.optional(TestTally),
  /** Files that judge and that it rewrote as it ran. */
  rewrote: v.optional(v.array(v.string())),
  /**
   * Files of the project's tests and settings that it wrote to as it ran, even if it put them back.
   */
  touched: v.optional(v.array(v.string())),
  /** Which tests they are, if it failed: tests that pass beside a failure must keep passing. */
  names: v.optional(TestNames),
  /** Set if its test runners reported to us; otherwise results are read from the output. */
  recorded: v.optional(Recorded),
  /**
   * The experiments' results: with an expectation or an input broken, and with the work removed.
   */
  canary: v.optional(Experiment),
  without_work: v.optional(Experiment),
  /** Files of the work that newly read the command line and that it loads only as programs. */
  programs: v.optional(v.pipe(v.array(v.string()), v.readonly())),
  /** Generated files of the work that came out the same when they were made again. */
  made_again: v.optional(v.pipe(v.array(v.string()), v.readonly())),
  /** A question that a pass leaves for a person. */
  gap: v.optional(v.string()),
});
export type Evidence = v.InferOutput<typeof Evidence>;

/** A check's result as the journal has it: the verdict in short, the evidence by hash. */
export const CheckResult = v.strictObject({
  check: Check,
  status: CheckStatus,
  exit_code: v.nullable(v.number()),
  duration_ms: v.number(),
  evidence: Hash,
  /**
   * Not run again: this tree, command and environment were judged before, and that evidence is
   * named.
   */
  cached: v.optional(v.boolean()),
  /** Known to be flaky until the end of this day: reported, neither blocking nor proof. */
  quarantined: v.optional(v.string()),
  /** How many tests it reported. */
  tests: v.optional(TestTally),
  /** The names of the first tests that failed. */
  failed: v.optional(v.string()),
  /** Missing packages of a manifest, or unreachable hosts, that kept the check from finishing. */
  uninstalled: v.optional(v.string()),
  /**
   * How many tests passed before anything was changed and fail now, of a check that failed then
   * too; `why` names them.
   */
  broke: v.optional(count),
  /** Why it did not pass, if its exit code does not say so. */
  why: v.optional(v.string()),
  /** With an expectation or an input of it broken on purpose. */
  canary: v.optional(Experiment),
  /** With the work removed and its new tests left in. */
  without_work: v.optional(Experiment),
  /** Files of the work that newly read the command line and that it loads only as programs. */
  programs: v.optional(v.pipe(v.array(v.string()), v.readonly())),
  /** Generated files of the work that came out the same when they were made again. */
  made_again: v.optional(v.pipe(v.array(v.string()), v.readonly())),
  /** A question that a pass leaves for a person. */
  gap: v.optional(v.string()),
});
export type CheckResult = v.InferOutput<typeof CheckResult>;

/**
 * Whether a check could not judge at all, because something it needs is missing here: not the same
 * as failing.
 */
export const couldNotRun = ({
  status,
  uninstalled,
}: Pick<CheckResult, "status"> & { readonly uninstalled?: string | undefined }): boolean =>
  status === "not_found" ||
  status === "not_runnable" ||
  (status !== "passed" && uninstalled !== undefined);

/** Files that judge a change and existed before it: tests and their configuration. */
export const protectedKinds = [
  "test",
  "test_config",
  "snapshot",
  "coverage",
  "lint",
  "compiler",
  "ci",
  "scripts",
] as const;
/**
 * What was done to a protected file. `added`: a new file that would configure the existing ones.
 * `extended`: rules or scripts do what they did, and more.
 */
export const protectedChanges = [
  "changed",
  "deleted",
  "renamed",
  "skipped",
  "focused",
  "weakened",
  "mocked",
  "loosened",
  "redefined",
  "extended",
  "added",
] as const;
export const ProtectedChange = v.strictObject({
  path: v.string(),
  kind: v.picklist(protectedKinds),
  how: v.picklist(protectedChanges),
  /** One sentence for a person. */
  detail: v.string(),
  /**
   * Why the change counts anyway: the scope names it, a person approved exactly this content, or
   * tests were only added to it and checks are tried out; `held`: the work passes with it only, and
   * is not merged until a person has looked; null: the base's file is used.
   */
  allowed: v.nullable(v.picklist(["scope", "approved", "added", "goal", "held"])),
});
export type ProtectedChange = v.InferOutput<typeof ProtectedChange>;

/** Something in a change that a person should look at. `gap`: the verdict says so too. */
export const ReviewPoint = v.strictObject({
  path: v.string(),
  what: v.string(),
  gap: v.optional(v.literal(true)),
});
export type ReviewPoint = v.InferOutput<typeof ReviewPoint>;
/**
 * The `what` of code that newly reads the command line: its arguments may be its input, and running
 * the checks decides.
 */
export const readsArguments = "reads the command line";
/** The `what` of a generated file that was changed alone: making it again decides. */
export const editedOutput =
  "says that it is generated, and nothing that it could be made from was changed";

/** What an agent's claim is about. */
export const claimKinds = [
  "done",
  "command",
  "commit",
  "file_line",
  "file_changed",
  "count",
  "named",
  "score",
] as const;
/** One claim of an agent that can be checked, and the result. */
export const ClaimChecked = v.strictObject({
  kind: v.picklist(claimKinds),
  text: v.string(),
  verdict: v.picklist(["true", "false", "unverifiable"]),
  why: v.string(),
  /**
   * A claim that the runner's own checks will decide: which of them, and whether it claims a pass.
   */
  waits: v.optional(v.strictObject({ of: v.string(), passed: v.optional(v.boolean()) })),
});
export type ClaimChecked = v.InferOutput<typeof ClaimChecked>;
