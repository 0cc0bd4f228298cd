// fill-placeholders: fills placeholders of a script's result from the prompt: `{{name}}` becomes
// the rest of the prompt's line that begins with `name: `.

import type { ScriptTurn } from "../../contracts/script.ts";

export function fillPlaceholders(turn: ScriptTurn, prompt: string): ScriptTurn {
  const fill = <Value>(value: Value): Value => fillValue(value, prompt) as Value;
  const actions = turn.do?.map((action) =>
    "submit" in action ? { ...action, submit: fill(action.submit) } : action,
  );

  return {
    ...turn,
    ...(actions === undefined ? {} : { do: actions }),
    ...(turn.returns === undefined ? {} : { returns: fill(turn.returns) }),
  };
}

function fillValue(value: unknown, prompt: string): unknown {
  if (typeof value === "string") {
    return value.replaceAll(
      /\{\{(\w+)\}\}/g,
      (all, name: string) => findPromptValue(prompt, name) ?? all,
    );
  }

  if (Array.isArray(value)) return value.map((inner) => fillValue(inner, prompt));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, fillValue(inner, prompt)]);
  return Object.fromEntries(entries);
}

/**
 * The value of the last such line: of repeated lines the newest is at the end. A turn that was cut
 * off gets its prompt again as a quotation, whose marks are skipped.
 */
function findPromptValue(prompt: string, name: string): string | undefined {
  const label = `${name}: `;
  const lines = prompt.split("\n").map((line) => line.replace(/^> /, ""));
  const line = lines.findLast((candidate) => candidate.startsWith(label));
  return line?.slice(label.length).trim();
}
