// fill-placeholders: a script's result with placeholders filled from the prompt: `{{name}}` is the rest of the line that begins with `name: ` there.

import type { ScriptTurn } from "../../contracts/script.ts";

export function fillPlaceholders(turn: ScriptTurn, prompt: string): ScriptTurn {
  const fill = <Value>(value: Value): Value => fillValue(value, prompt) as Value;
  return {
    ...turn,
    ...(turn.do === undefined
      ? {}
      : { do: turn.do.map((action) => ("submit" in action ? { ...action, submit: fill(action.submit) } : action)) }),
    ...(turn.returns === undefined ? {} : { returns: fill(turn.returns) }),
  };
}

function fillValue(value: unknown, prompt: string): unknown {
  if (typeof value === "string") return value.replaceAll(/\{\{(\w+)\}\}/g, (all, name: string) => findPromptValue(prompt, name) ?? all);
  if (Array.isArray(value)) return value.map((inner) => fillValue(inner, prompt));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, fillValue(inner, prompt)]));
}

/** The last one: repeated lines in a prompt are newest at its end. A turn that was cut off gets its prompt again as a quotation. */
function findPromptValue(prompt: string, name: string): string | undefined {
  return prompt
    .split("\n")
    .map((line) => line.replace(/^> /, ""))
    .findLast((line) => line.startsWith(`${name}: `))
    ?.slice(name.length + 2)
    .trim();
}
