// objective-criteria: parses done criteria, each with an optional check: `text :: command`.

import type { Criterion } from "../../contracts/objective.ts";

export type ParsedCriteria =
  | { readonly criteria: readonly Criterion[] }
  | { readonly fault: string };

const criteriaMax = 100;
const criterionCharsMax = 4_000;

/** Numbers criteria that were parsed before: their texts are plain text, whatever is in them. */
export const numberCriteria = (
  criteria: readonly Omit<Criterion, "id">[],
): { readonly criteria: readonly Criterion[] } => ({
  criteria: criteria.map(({ text, check }, index) => ({ id: `c${index + 1}`, text, check })),
});

/**
 * Parses done criteria, one a line or separated by `;`. A criterion may carry its check: `text ::
 * command`. A command may contain `;` itself, so it ends only at a newline, or at a `;` followed by
 * another ` :: ` criterion.
 */
export function parseCriteria(texts: readonly string[]): ParsedCriteria {
  const items: { text: string; check: string | null }[] = [];
  for (const line of texts.flatMap((text) => text.split(/\r?\n/))) {
    let openItem: { text: string; check: string | null } | null = null;
    const withoutBullet = line.replace(/^\s*(?:[-*]|\d+[.)])\s+/, ""); // `- `, `1. `
    for (const part of withoutBullet.split(";")) {
      const index = part.search(/ ::(?: |$)/);
      if (index < 0 && openItem !== null && openItem.check !== null) {
        openItem.check += `;${part}`;
        continue;
      }

      openItem =
        index < 0
          ? { text: part, check: null }
          : { text: part.slice(0, index), check: part.slice(index + " ::".length) };

      items.push(openItem);
    }
  }

  const criteria: Criterion[] = [];
  for (const { text, check } of items) {
    const command = check?.trim() ?? null;
    if (command === "") {
      return { fault: `"${text.trim()} ::" names no command: expected one after the ::.` };
    }

    if (command === null && /\S::\s|\s::\S/.test(text)) {
      return {
        fault: `"${text.trim()}" has a space on one side of its ::, expected \`text :: command\`.`,
      };
    }

    const criterion = text.trim() === "" ? (command ?? "") : text.trim();
    if (criterion === "") continue;
    if (criterion.length > criterionCharsMax || (command ?? "").length > criterionCharsMax) {
      return { fault: `a criterion is longer than ${criterionCharsMax} characters.` };
    }

    if ((criterion + (command ?? "")).includes("\0")) {
      return { fault: "a criterion has a NUL character in it." };
    }

    criteria.push({ id: `c${criteria.length + 1}`, text: criterion, check: command });
  }

  if (criteria.length === 0 && texts.length > 0) {
    return { fault: `"${texts.join(" ")}" names nothing: expected a criterion.` };
  }

  if (criteria.length > criteriaMax) {
    return { fault: `${criteria.length} criteria are too many: at most ${criteriaMax}.` };
  }

  return { criteria };
}
