import { shown } from "../kit/finding.ts";
import { didYouMean } from "../kit/suggest.ts";
import type { Lint } from "./lint-subject.ts";
import { stepsEverywhere } from "./lists.ts";
import { placeholders, unknownPlaceholders } from "./prompt.ts";

/** Prompts are there, and hold only placeholders that something fills. */
export function lintPrompts({ flow, positions, prompts, say, report }: Lint): void {
  const read = new Set<string>();
  for (const { step, path } of stepsEverywhere(flow)) {
    if (step.prompt === undefined) continue;
    const text = Object.hasOwn(prompts, step.prompt) ? prompts[step.prompt] : undefined;
    if (text === undefined) {
      say([...path, "prompt"], "prompt_missing", `found no file prompts/${step.prompt}.${didYouMean(step.prompt, Object.keys(prompts))}`);
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
    if (read.has(step.prompt)) continue;
    read.add(step.prompt);
    for (const { name, line, column } of unknownPlaceholders(text)) {
      const message = `found the unknown placeholder ${shown(`{${name}}`)}, expected one of ${Object.keys(placeholders).join(", ")}, or {{${name}}} for the text itself.${didYouMean(name, Object.keys(placeholders))}`;
      report({
        file: `${folderOf(positions.file)}prompts/${step.prompt}`,
        line,
        column,
        path: name,
        rule: "unknown_placeholder",
        message,
        severity: "error",
      });
    }
  }
}

function folderOf(file: string): string {
  return file.startsWith("built-in:") ? `${file}/` : file.slice(0, file.search(/[^/\\]*$/));
}
