// lint-prompts: lints prompts: each file exists and uses only placeholders that are filled.

import type { Step } from "../contracts/flow.ts";
import { type DataPath, shown } from "../kit/finding.ts";
import { didYouMean } from "../kit/suggest.ts";
import type { Lint } from "./lint-subject.ts";
import { listAllSteps } from "./step-lists.ts";
import { placeholders, findUnknownPlaceholders } from "./prompt.ts";

/** Prompts exist, and use only placeholders that something fills. */
export function lintPrompts(lint: Lint): void {
  const { flow, prompts, promptFiles = [], reportAt } = lint;
  const lintedPrompts = new Set<string>();
  reportUnusedPrompts(lint);

  for (const { step, path, list } of listAllSteps(flow)) {
    const { prompt } = step;
    if (prompt === undefined) continue;

    const text = Object.hasOwn(prompts, prompt) ? prompts[prompt] : undefined;
    if (text === undefined) {
      const suggestion = didYouMean(prompt, [...Object.keys(prompts), ...promptFiles]);
      reportAt(
        [...path, "prompt"],
        "prompt_missing",
        `found no file prompts/${prompt}.${suggestion}`,
      );
      continue;
    }

    lintUse(lint, { step, path, prompt, text, isOfTask: list.kind === "each" });
    if (!lintedPrompts.has(prompt)) reportUnknownPlaceholders(lint, prompt, text);
    lintedPrompts.add(prompt);
  }
}

/** A step and the text of its prompt. */
type PromptUse = {
  readonly step: Step;
  readonly path: DataPath;
  readonly prompt: string;
  readonly text: string;
  readonly isOfTask: boolean;
};

/** A prompt shows the agent what its step needs, and nothing that the step does not have. */
function lintUse({ reportAt }: Lint, { step, path, prompt, text, isOfTask }: PromptUse): void {
  const file = `prompts/${prompt}`;
  const promptPath = [...path, "prompt"];
  if (text.trim() === "") reportAt(promptPath, "prompt_empty", `found nothing in ${file}`);

  if (step.returns !== undefined && !text.includes("{return_schema}")) {
    const message = `found no {return_schema} in ${file}, so the agent is not told what to hand back`;
    reportAt([...path, "returns"], "schema_not_shown", message, "warning");
  }

  if (!isOfTask && hasPlaceholder(text, "task")) {
    const message = `found {task} in ${file}, and no task runs this step`;
    reportAt(promptPath, "placeholder_empty", message, "warning");
  }

  if ((step.proof ?? []).length > 0 && !hasPlaceholder(text, "previous")) {
    const message = `found no {previous} in ${file}, so an agent whose proof did not hold is not told why`;
    reportAt(promptPath, "failure_not_shown", message, "warning");
  }
}

function reportUnknownPlaceholders(
  { positions, report }: Lint,
  prompt: string,
  text: string,
): void {
  const names = Object.keys(placeholders);
  const file = `${fileFolder(positions.file)}prompts/${prompt}`;

  for (const { name, line, column } of findUnknownPlaceholders(text)) {
    const expected = `expected one of ${names.join(", ")}, or {{${name}}} for the text itself`;
    const message = `found the unknown placeholder ${shown(`{${name}}`)}, ${expected}.${didYouMean(name, names)}`;
    report({
      file,
      line,
      column,
      path: name,
      rule: "unknown_placeholder",
      message,
      severity: "error",
    });
  }
}

/** An unused prompt is most often one that a step misspells. */
function reportUnusedPrompts({ flow, positions, promptFiles, report }: Lint): void {
  const usedNames = new Set(listAllSteps(flow).map(({ step }) => step.prompt));
  for (const name of (promptFiles ?? []).filter((file) => !usedNames.has(file))) {
    const file = `${fileFolder(positions.file)}prompts/${name}`;
    const message = `found prompts/${name}, which no step names`;
    report({
      file,
      line: 1,
      column: 1,
      path: "",
      rule: "prompt_unused",
      message,
      severity: "warning",
    });
  }
}

/** Whether the text has `{task}`; `{{task}}` is the word in braces. */
const hasPlaceholder = (text: string, placeholder: string): boolean =>
  new RegExp(`(?<!\\{)\\{${placeholder}\\}(?!\\})`).test(text);

/** `a/flow.yaml` → `a/`; a built-in flow is its own folder. */
function fileFolder(file: string): string {
  return file.startsWith("built-in:") ? `${file}/` : file.slice(0, file.search(/[^/\\]*$/));
}
