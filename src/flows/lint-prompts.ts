// lint-prompts: lints prompts: each file exists and uses only placeholders that are filled.

import { shown } from "../kit/finding.ts";
import { didYouMean } from "../kit/suggest.ts";
import type { Lint } from "./lint-subject.ts";
import { stepsEverywhere } from "./lists.ts";
import { placeholders, unknownPlaceholders } from "./prompt.ts";

/** Prompts exist, and use only placeholders that something fills. */
export function lintPrompts({ flow, positions, prompts, promptFiles, say, report }: Lint): void {
  const read = new Set<string>();
  unused();
  for (const { step, path, list } of stepsEverywhere(flow)) {
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
    if (text.trim() === "") say([...path, "prompt"], "prompt_empty", `found nothing in prompts/${step.prompt}`);
    if (step.returns !== undefined && !text.includes("{return_schema}")) {
      say(
        [...path, "returns"],
        "schema_not_shown",
        `found no {return_schema} in prompts/${step.prompt}, so the agent is not told what to hand back`,
        "warning",
      );
    }
    if (list.kind !== "each" && holds(text, "task"))
      say([...path, "prompt"], "placeholder_empty", `found {task} in prompts/${step.prompt}, and no task runs this step`, "warning");
    if ((step.proof ?? []).length > 0 && !holds(text, "previous")) {
      const lack = `found no {previous} in prompts/${step.prompt}, so an agent whose proof did not hold is not told why`;
      say([...path, "prompt"], "failure_not_shown", lack, "warning");
    }
    if (read.has(step.prompt)) continue;
    read.add(step.prompt);
    for (const { name, line, column } of unknownPlaceholders(text)) {
      const message = `found the unknown placeholder ${shown(`{${name}}`)}, expected one of ${Object.keys(placeholders).join(", ")}, or {{${name}}} for the text itself.${didYouMean(name, Object.keys(placeholders))}`;
      report({
        file: `${fileFolder(positions.file)}prompts/${step.prompt}`,
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
  function unused(): void {
    const used = new Set(stepsEverywhere(flow).map(({ step }) => step.prompt));
    for (const name of (promptFiles ?? []).filter((file) => !used.has(file))) {
      const file = `${fileFolder(positions.file)}prompts/${name}`;
      const message = `found prompts/${name}, which no step names`;
      report({ file, line: 1, column: 1, path: "", rule: "prompt_unused", message, severity: "warning" });
    }
  }
}

const holds = (text: string, placeholder: string): boolean => new RegExp(`(?<!\\{)\\{${placeholder}\\}(?!\\})`).test(text);

function fileFolder(file: string): string {
  return file.startsWith("built-in:") ? `${file}/` : file.slice(0, file.search(/[^/\\]*$/));
}
