// lint-steps: lints each step: exactly one kind, only the keys that kind allows, and functions that exist.

import { stepKinds, type Human, type Step, type StepKind } from "../contracts/flow.ts";
import { shown, type DataPath } from "../kit/finding.ts";
import { didYouMean } from "../kit/suggest.ts";
import type { Lint } from "./lint-subject.ts";
import { stepsEverywhere, type StepList } from "./lists.ts";

/** Each step by itself: its one kind, the keys that kind may have, and the code it names. */
export function lintSteps(lint: Lint): void {
  for (const { step, path, list } of stepsEverywhere(lint.flow)) {
    const kinds = stepKinds.filter((kind) => step[kind] !== undefined);
    const [kind, second] = kinds;
    if (kind === undefined || second !== undefined) {
      lint.say(
        path,
        "not_one_kind",
        `found ${kinds.length === 0 ? "no kind" : kinds.join(" and ")}, expected exactly one of ${stepKinds.join(", ")}`,
      );
      continue;
    }
    lintKeys(lint, step, kind, path);
    lintNames(lint, step, path, list);
    if (step.human !== undefined) lintHuman(lint, step.human, [...path, "human"]);
    lintSight(lint, step, path, list);
    lintKeeping(lint, step, path, list);
  }
}

/** Which keys a step may have in addition to the common ones. */
const kindsByKey: Readonly<Record<string, readonly StepKind[]>> = {
  prompt: ["agent"],
  returns: ["agent"],
  returns_optional: ["agent"],
  corrections: ["agent"],
  sees: ["agent", "run"],
  masks: ["agent"],
  keeps: ["agent"],
  continues: ["agent"],
  estimate: ["agent", "flow"],
  commit: ["agent"],
  with: ["flow"],
  writes: ["agent", "run"],
  proof: ["agent", "run", "flow"],
  retry: ["agent", "run", "check", "tasks", "flow"],
  limits: ["agent", "run", "check", "tasks", "flow"],
  otherwise: ["agent", "run", "check", "tasks", "flow"],
};

function lintKeys({ say }: Lint, step: Step, kind: StepKind, path: DataPath): void {
  for (const [word, kinds] of Object.entries(kindsByKey)) {
    if (step[word as keyof Step] !== undefined && !kinds.includes(kind)) {
      say(
        [...path, word],
        "word_out_of_place",
        `found ${word} on a ${kind} step, where it means nothing; it belongs to ${kinds.join(", ")}`,
      );
    }
  }
  if (kind === "agent" && step.prompt === undefined)
    say([...path, "agent"], "agent_without_prompt", "found an agent and no prompt, expected prompt: <file>.md");
  if (step.returns_optional === true && step.returns === undefined)
    say([...path, "returns_optional"], "returns_optional", "found returns_optional and no returns");
  for (const dimension of ["minutes", "usd"] as const) {
    if (step.limits?.[dimension] === 0)
      say([...path, "limits", dimension], "limit_zero", `found a limit of 0 ${dimension}, with which the step can never run`);
  }
  for (const word of ["masks", "writes", "keeps"] as const) {
    for (const [n, file] of (step[word] ?? []).entries()) {
      const fault = pathFault(word === "keeps" ? file.replace(/^!/, "") : file);
      if (fault !== null) say([...path, word, n], "bad_path", `found ${shown(file)}, ${fault}`);
    }
  }
}

/** Null if the path may stand in a flow. */
export function pathFault(path: string): string | null {
  if (path === "") return "expected a path";
  if (path.startsWith("/") || /^[A-Za-z]:/.test(path)) return "expected a path relative to the project";
  if (path.includes("\\")) return "expected / between folders";
  if (path.split("/").includes("..")) return "expected a path that does not climb";
  return null;
}

function lintNames({ say, registry }: Lint, step: Step, path: DataPath, list: StepList): void {
  const requireKnown = (word: string, name: string | undefined, rule: string, names: readonly string[], at: DataPath): void => {
    if (name === undefined || names.includes(name)) return;
    const near = didYouMean(name, names);
    // If no name is similar, the list is the only way to learn the names.
    say(at, rule, `found the unknown ${word} ${shown(name)}${near === "" ? `, expected one of ${names.join(", ")}` : `.${near}`}`);
  };
  requireKnown("function", step.run, "unknown_function", registry.run, [...path, "run"]);
  requireKnown("return schema", step.returns, "unknown_schema", registry.schemas, [...path, "returns"]);
  if (step.tasks !== undefined) {
    requireKnown("reader", step.tasks.read, "unknown_reader", registry.readers.tasks, [...path, "tasks", "read"]);
    const { read, from } = step.tasks;
    const wantsFile = registry.readers.from?.includes(read) === true;
    const fault = from === undefined ? null : pathFault(from);
    if (wantsFile && from === undefined)
      say([...path, "tasks", "read"], "tasks_without_file", `found the reader ${shown(read)} and no file, expected from: <path>`);
    if (!wantsFile && from !== undefined)
      say([...path, "tasks", "from"], "word_out_of_place", `found from, which the reader ${shown(read)} does not take`);
    if (fault !== null) say([...path, "tasks", "from"], "bad_path", `found ${shown(from)}, ${fault}`);
    if (list.kind !== "phase") say([...path, "tasks"], "tasks_nested", `found tasks inside a ${list.kind} list, expected them in a phase`);
  }
  if (
    step.run !== undefined &&
    registry.effects !== undefined &&
    registry.run.includes(step.run) &&
    !Object.hasOwn(registry.effects, step.run)
  ) {
    say(
      [...path, "run"],
      "effect_undeclared",
      `found ${shown(step.run)}, which does not say whether it may be done twice (none, idempotent or keyed)`,
    );
  }
  for (const [n, check] of (step.check ?? []).entries()) {
    // A single bare word is a group; a one-word command is written with its folder or an argument, so that a typo is not run as a command.
    const isGroup = /^[a-z][a-z0-9_-]*$/.test(check);
    if (isGroup) requireKnown("group of checks", check, "unknown_check", [...registry.checks, ...registry.proof], [...path, "check", n]);
    if (check.trim() === "") say([...path, "check", n], "unknown_check", "found an empty command");
  }
}

function lintHuman({ say }: Lint, human: Human, path: DataPath): void {
  const options = Object.keys(human.options ?? {});
  if (human.question.trim() === "") say([...path, "question"], "human_question", "found an empty question");
  if (options.length === 0 && human.free !== true)
    say(path, "human_options", "found a question without an answer, expected options, or free: true");
  const offered = (answer: string): boolean => human.free === true || options.length === 0 || options.includes(answer);
  if (human.recommend !== undefined && !offered(human.recommend)) {
    say(
      [...path, "recommend"],
      "recommend_unknown",
      `found the recommendation ${shown(human.recommend)}, expected one of ${options.join(", ")}`,
    );
  }
  if (human.leaves !== undefined && !offered(human.leaves))
    say([...path, "leaves"], "answer_unknown", `found the answer ${shown(human.leaves)}, expected one of ${options.join(", ")}`);
  for (const [n, preset] of (human.preset ?? []).entries()) {
    if (!offered(preset.answer))
      say(
        [...path, "preset", n, "answer"],
        "answer_unknown",
        `found the answer ${shown(preset.answer)}, expected one of ${options.join(", ")}`,
      );
  }
}

/** What a step keeps is written like a gate's paths, so that both can mean the same file. */
function lintKeeping({ say }: Lint, step: Step, path: DataPath, list: StepList): void {
  for (const [n, pattern] of (step.keeps ?? []).entries()) {
    for (const [, name = ""] of pattern.matchAll(/\{([^{},]*)\}/g)) {
      const isKnown = name === "task" ? list.kind === "each" : name === "phase" || name === "phase_dir";
      if (!isKnown)
        say([...path, "keeps", n], "unknown_placeholder", `found {${name}}, expected phase_dir, phase, or task in the steps a task runs`);
    }
  }
}

/** The steps that a step sees and continues must exist. */
function lintSight({ flow, say }: Lint, step: Step, path: DataPath, list: StepList): void {
  const ids = list.steps.map((other) => other.id);
  for (const [n, seen] of (step.sees ?? []).entries()) {
    const [head, phaseId, stepId] = seen.split(".");
    const before = flow.before?.find((phase) => phase.id === phaseId);
    const isThere =
      head === "before"
        ? before !== undefined && (stepId === undefined || before.steps.some(({ id }) => id === stepId))
        : ids.includes(seen);
    if (!isThere)
      say([...path, "sees", n], "sees_unknown", `found ${shown(seen)}, which isn't a step of this list.${didYouMean(seen, ids)}`);
  }
  if (step.continues === undefined) return;
  const at = [...path, "continues"];
  const index = ids.indexOf(step.continues);
  const other = list.steps[index];
  if (other === undefined)
    say(at, "continues_unknown", `found ${shown(step.continues)}, which isn't a step of this list.${didYouMean(step.continues, ids)}`);
  else if (other.agent === undefined)
    say(at, "continues_no_agent", `found ${shown(step.continues)}, which isn't an agent and has no session to keep`);
  else if (other.agent !== step.agent)
    say(at, "continues_other_role", `found the session of ${other.agent}, expected one of ${step.agent ?? "an agent"}`);
  else if (index >= ids.indexOf(step.id))
    say(at, "continues_later", `found ${shown(step.continues)}, which does not come before this step`);
}
