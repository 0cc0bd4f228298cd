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
  const lines = texts.flatMap((text) => text.split(/\r?\n/));
  const items = lines.flatMap(splitLine);

  const fault = items.map(findFault).find((found) => found !== null);
  if (fault !== undefined) return { fault };

  const criteria = items.map(trimItem).filter(({ text }) => text !== "");

  if (criteria.length === 0 && texts.length > 0) {
    return { fault: `"${texts.join(" ")}" names nothing: expected a criterion.` };
  }

  if (criteria.length > criteriaMax) {
    return { fault: `${criteria.length} criteria are too many: at most ${criteriaMax}.` };
  }

  return numberCriteria(criteria);
}

/** A criterion as it was written; `check` is null without a `::`. */
type CriterionItem = { readonly text: string; readonly check: string | null };

/** The criteria of one line, which may begin with a bullet: `- ` or `1. `. */
function splitLine(line: string): readonly CriterionItem[] {
  const withoutBullet = line.replace(/^\s*(?:[-*]|\d+[.)])\s+/, "");
  const items: { text: string; check: string | null }[] = [];

  for (const part of withoutBullet.split(";")) {
    const index = part.search(/ ::(?: |$)/);
    const last = items.at(-1);

    if (index >= 0) {
      items.push({ text: part.slice(0, index), check: part.slice(index + " ::".length) });
    } else if (last !== undefined && last.check !== null) {
      last.check += `;${part}`;
    } else {
      items.push({ text: part, check: null });
    }
  }

  return items;
}

/** A criterion without a text is called by its command. */
function trimItem(item: CriterionItem): CriterionItem {
  const check = item.check?.trim() ?? null;
  return { text: item.text.trim() || (check ?? ""), check };
}

function findFault(item: CriterionItem): string | null {
  const { text, check } = trimItem(item);
  if (check === "") return `"${text} ::" names no command: expected one after the ::.`;

  // `the tests pass ::npm test`, `the tests pass:: npm test`
  if (check === null && /\S::\s|\s::\S/.test(item.text)) {
    return `"${text}" has a space on one side of its ::, expected \`text :: command\`.`;
  }

  if (text.length > criterionCharsMax || (check ?? "").length > criterionCharsMax) {
    return `a criterion is longer than ${criterionCharsMax} characters.`;
  }

  return `${text}${check ?? ""}`.includes("\0") ? "a criterion has a NUL character in it." : null;
}
