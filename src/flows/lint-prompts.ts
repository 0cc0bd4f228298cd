// lint-prompts: lints prompts: each file exists and uses only placeholders that are filled.

import { shown } from "../kit/finding.ts";
import { didYouMean } from "../kit/suggest.ts";
import type { Lint } from "./lint-subject.ts";
import { listAllSteps } from "./step-lists.ts";
import { placeholders, findUnknownPlaceholders } from "./prompt.ts";

/** Prompts exist, and use only placeholders that something fills. */
export function lintPrompts(lint: Lint): void {
  const { flow, prompts, promptFiles, say } = lint;
  const lintedPrompts = new Set<string>();
  reportUnusedPrompts(lint);

  for (const { step, path, list } of listAllSteps(flow)) {
    if (step.prompt === undefined) continue;
    const text = Object.hasOwn(prompts, step.prompt) ? prompts[step.prompt] : undefined;
    if (text === undefined) {
      say(
        [...path, "prompt"],
        "prompt_missing",
        `found no file prompts/${step.prompt}.${didYouMean(step.prompt, [...Object.keys(prompts), ...(promptFiles ?? [])])}`,
      );

      continue;
    }

    if (text.trim() === "") {
      say([...path, "prompt"], "prompt_empty", `found nothing in prompts/${step.prompt}`);
    }

    if (step.returns !== undefined && !text.includes("{return_schema}")) {
      say(
        [...path, "returns"],
        "schema_not_shown",
        `found no {return_schema} in prompts/${step.prompt}, so the agent is not told what to hand back`,
        "warning",
      );
    }

    if (list.kind !== "each" && hasPlaceholder(text, "task")) {
      say(
        [...path, "prompt"],
        "placeholder_empty",
        `found {task} in prompts/${step.prompt}, and no task runs this step`,
        "warning",
      );
    }

    if ((step.proof ?? []).length > 0 && !hasPlaceholder(text, "previous")) {
      const message = `found no {previous} in prompts/${step.prompt}, so an agent whose proof did not hold is not told why`;
      say([...path, "prompt"], "failure_not_shown", message, "warning");
    }

    if (!lintedPrompts.has(step.prompt)) reportUnknownPlaceholders(lint, step.prompt, text);
    lintedPrompts.add(step.prompt);
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
