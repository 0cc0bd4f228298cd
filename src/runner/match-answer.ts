// match-answer: matches a person's text to one of a question's options.

import { ownValue } from "../core/own-values.ts";
import type { RunView } from "../core/state.ts";

type Question = Pick<RunView["blocks"][string], "options"> & {
  readonly free?: boolean | undefined;
};

/**
 * Matches the text to an option: by its letter or number, or by the first word of its meaning
 * (`retry` for "retry the step"). If free text is allowed too, an option's number means its text.
 * Null if the text is none of the options and must be one.
 */
export function matchAnswer({ options, free }: Question, text: string): string | null {
  const word = text.trim().toLowerCase();
  if (free === true) return ownValue(options, word) ?? text;
  const key = matchOption(options, word);

  return key ?? (Object.keys(options).length === 0 ? text : null);
}

function matchOption(options: Question["options"], word: string): string | null {
  const keys = Object.keys(options);
  const exact = keys.find((key) => key.toLowerCase() === word);
  if (exact !== undefined || word === "") return exact ?? null;
  const matches = keys.filter((key) => {
    const meaning = (options[key] ?? "").toLowerCase();
    return meaning === word || /^\w+/.exec(meaning)?.[0] === word;
  });

  return matches.length === 1 ? (matches[0] ?? null) : null; // an ambiguous word matches none
}
