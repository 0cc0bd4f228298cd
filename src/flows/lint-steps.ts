// lint-steps: lints each step: exactly one kind, only the keys that kind allows, and functions that
// exist.

import { stepKinds, type Human, type Step, type StepKind } from "../contracts/flow.ts";
import { shown, type DataPath } from "../kit/finding.ts";
import { didYouMean } from "../kit/suggest.ts";
import type { Lint } from "./lint-subject.ts";
import { listAllSteps, type StepList } from "./step-lists.ts";

/** Each step by itself: its one kind, the keys that kind may have, and the code it names. */
export function lintSteps(lint: Lint): void {
  for (const { step, path, list } of listAllSteps(lint.flow)) {
    const kinds = stepKinds.filter((kind) => step[kind] !== undefined);
    const [kind, secondKind] = kinds;
    if (kind === undefined || secondKind !== undefined) {
      lint.reportAt(
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

function lintKeys({ reportAt }: Lint, step: Step, kind: StepKind, path: DataPath): void {
  for (const [key, kinds] of Object.entries(kindsByKey)) {
    if (step[key as keyof Step] !== undefined && !kinds.includes(kind)) {
      reportAt(
        [...path, key],
        "word_out_of_place",
        `found ${key} on a ${kind} step, where it means nothing; it belongs to ${kinds.join(", ")}`,
      );
    }
  }

  if (kind === "agent" && step.prompt === undefined) {
    reportAt(
      [...path, "agent"],
      "agent_without_prompt",
      "found an agent and no prompt, expected prompt: <file>.md",
    );
  }

  if (step.returns_optional === true && step.returns === undefined) {
    reportAt(
      [...path, "returns_optional"],
      "returns_optional",
      "found returns_optional and no returns",
    );
  }

  for (const dimension of ["minutes", "usd"] as const) {
    if (step.limits?.[dimension] === 0) {
      reportAt(
        [...path, "limits", dimension],
        "limit_zero",
        `found a limit of 0 ${dimension}, with which the step can never run`,
      );
    }
  }

  for (const key of ["masks", "writes", "keeps"] as const) {
    for (const [index, file] of (step[key] ?? []).entries()) {
      const fault = findPathFault(key === "keeps" ? file.replace(/^!/, "") : file);
      if (fault !== null)
        reportAt([...path, key, index], "bad_path", `found ${shown(file)}, ${fault}`);
    }
  }
}

/** What is wrong with a path in a flow; null if it may be there. */
export function findPathFault(path: string): string | null {
  if (path === "") return "expected a path";
  if (path.startsWith("/") || /^[A-Za-z]:/.test(path)) {
    return "expected a path relative to the project";
  }

  if (path.includes("\\")) return "expected / between folders";
  if (path.split("/").includes("..")) return "expected a path that does not climb";
  return null;
}

type KnownNames = {
  readonly kind: string;
  readonly rule: string;
  readonly names: readonly string[];
  readonly path: DataPath;
};

function requireKnown(
  { reportAt }: Lint,
  name: string | undefined,
  { kind, rule, names, path }: KnownNames,
): void {
  if (name === undefined || names.includes(name)) return;
  const suggestion = didYouMean(name, names);
  // If no name is similar, the list is the only way to learn the names.
  const hint = suggestion === "" ? `, expected one of ${names.join(", ")}` : `.${suggestion}`;
  reportAt(path, rule, `found the unknown ${kind} ${shown(name)}${hint}`);
}

/** The functions, readers, schemas and checks that a step names exist. */
function lintNames(lint: Lint, step: Step, path: DataPath, list: StepList): void {
  const { reportAt, registry } = lint;
  requireKnown(lint, step.run, {
    kind: "function",
    rule: "unknown_function",
    names: registry.run,
    path: [...path, "run"],
  });

  requireKnown(lint, step.returns, {
    kind: "return schema",
    rule: "unknown_schema",
    names: registry.schemas,
    path: [...path, "returns"],
  });

  if (step.tasks !== undefined) lintTasks(lint, step.tasks, [...path, "tasks"], list);
  const { run } = step;
  const isUndeclared =
    run !== undefined &&
    registry.effectsByFunction !== undefined &&
    !Object.hasOwn(registry.effectsByFunction, run);
  if (isUndeclared && registry.run.includes(run)) {
    const message = `found ${shown(run)}, which does not say whether it may be done twice (none, idempotent or keyed)`;
    reportAt([...path, "run"], "effect_undeclared", message);
  }

  for (const [index, check] of (step.check ?? []).entries()) {
    // A single bare word is a group; a one-word command is written with its folder or an argument,
    // so that a typo is not run as a command.
    const isGroup = /^[a-z][a-z0-9_-]*$/.test(check);
    const checkPath = [...path, "check", index];
    const groups = [...registry.checks, ...registry.proof];

    if (isGroup) {
      requireKnown(lint, check, {
        kind: "group of checks",
        rule: "unknown_check",
        names: groups,
        path: checkPath,
      });
    }

    if (check.trim() === "") reportAt(checkPath, "unknown_check", "found an empty command");
  }
}

/** The reader of a tasks step exists, and has a file if it needs one. */
function lintTasks(
  lint: Lint,
  { read: reader, from: file }: NonNullable<Step["tasks"]>,
  path: DataPath,
  list: StepList,
): void {
  const { reportAt, registry } = lint;
  requireKnown(lint, reader, {
    kind: "reader",
    rule: "unknown_reader",
    names: registry.readers.tasks,
    path: [...path, "read"],
  });

  const needsFile = registry.readers.from?.includes(reader) === true;
  const fault = file === undefined ? null : findPathFault(file);

  if (needsFile && file === undefined) {
    reportAt(
      [...path, "read"],
      "tasks_without_file",
      `found the reader ${shown(reader)} and no file, expected from: <path>`,
    );
  }

  if (!needsFile && file !== undefined) {
    reportAt(
      [...path, "from"],
      "word_out_of_place",
      `found from, which the reader ${shown(reader)} does not take`,
    );
  }

  if (fault !== null) reportAt([...path, "from"], "bad_path", `found ${shown(file)}, ${fault}`);
  if (list.kind !== "phase") {
    reportAt(
      path,
      "tasks_nested",
      `found tasks inside a ${list.kind} list, expected them in a phase`,
    );
  }
}

function lintHuman({ reportAt }: Lint, human: Human, path: DataPath): void {
  const options = Object.keys(human.options ?? {});
  if (human.question.trim() === "") {
    reportAt([...path, "question"], "human_question", "found an empty question");
  }

  if (options.length === 0 && human.free !== true) {
    reportAt(
      path,
      "human_options",
      "found a question without an answer, expected options, or free: true",
    );
  }

  const isOffered = (answer: string): boolean =>
    human.free === true || options.length === 0 || options.includes(answer);
  if (human.recommend !== undefined && !isOffered(human.recommend)) {
    reportAt(
      [...path, "recommend"],
      "recommend_unknown",
      `found the recommendation ${shown(human.recommend)}, expected one of ${options.join(", ")}`,
    );
  }

  if (human.leaves !== undefined && !isOffered(human.leaves)) {
    reportAt(
      [...path, "leaves"],
      "answer_unknown",
      `found the answer ${shown(human.leaves)}, expected one of ${options.join(", ")}`,
    );
  }

  for (const [index, preset] of (human.preset ?? []).entries()) {
    if (!isOffered(preset.answer)) {
      reportAt(
        [...path, "preset", index, "answer"],
        "answer_unknown",
        `found the answer ${shown(preset.answer)}, expected one of ${options.join(", ")}`,
      );
    }
  }
}

/** What a step keeps is written like a gate's paths, so that both can mean the same file. */
function lintKeeping({ reportAt }: Lint, step: Step, path: DataPath, list: StepList): void {
  for (const [index, pattern] of (step.keeps ?? []).entries()) {
    for (const [, name = ""] of pattern.matchAll(/\{([^{},]*)\}/g)) {
      const isKnown =
        name === "task" ? list.kind === "each" : name === "phase" || name === "phase_dir";
      if (!isKnown) {
        reportAt(
          [...path, "keeps", index],
          "unknown_placeholder",
          `found {${name}}, expected phase_dir, phase, or task in the steps a task runs`,
        );
      }
    }
  }
}

/** The steps that a step sees and continues must exist. */
function lintSight({ flow, reportAt }: Lint, step: Step, path: DataPath, list: StepList): void {
  const ids = list.steps.map(({ id }) => id);
  for (const [index, name] of (step.sees ?? []).entries()) {
    if (isStepOfFlow(flow, name, ids)) continue;
    reportAt(
      [...path, "sees", index],
      "sees_unknown",
      `found ${shown(name)}, which isn't a step of this list.${didYouMean(name, ids)}`,
    );
  }

  if (step.continues === undefined) return;
  const continuesPath = [...path, "continues"];
  const name = shown(step.continues);
  const index = ids.indexOf(step.continues);
  const continuedStep = list.steps[index];
  if (continuedStep === undefined) {
    reportAt(
      continuesPath,
      "continues_unknown",
      `found ${name}, which isn't a step of this list.${didYouMean(step.continues, ids)}`,
    );
  } else if (continuedStep.agent === undefined) {
    reportAt(
      continuesPath,
      "continues_no_agent",
      `found ${name}, which isn't an agent and has no session to keep`,
    );
  } else if (continuedStep.agent !== step.agent) {
    reportAt(
      continuesPath,
      "continues_other_role",
      `found the session of ${continuedStep.agent}, expected one of ${step.agent ?? "an agent"}`,
    );
  } else if (index >= ids.indexOf(step.id)) {
    reportAt(
      continuesPath,
      "continues_later",
      `found ${name}, which does not come before this step`,
    );
  }
}

/** A step of the list, or `before.<phase>` or `before.<phase>.<step>`. */
function isStepOfFlow(flow: Lint["flow"], name: string, listIds: readonly string[]): boolean {
  const [head, phaseId, stepId] = name.split(".");
  if (head !== "before") return listIds.includes(name);
  const phase = flow.before?.find(({ id }) => id === phaseId);

  return (
    phase !== undefined && (stepId === undefined || phase.steps.some(({ id }) => id === stepId))
  );
}
