// parallel-lists: finds inputs and answers of tests in two lists of one length (`starts = ["7992",
// "3782"]`, `digits = [3, 5]`), which together are a table. Pure.

type Entry = readonly [input: string, answer: string];

const entriesMin = 3;
const listsMax = 40;
/** So much of an input's beginning stands for it. */
const startCharsMin = 3;

/** `literal`: what a literal looks like; `parse`: its value; `lines`: the literals of test lines. */
export function findParallelEntries(
  text: string,
  lines: readonly (readonly string[])[],
  { literal, parse }: { readonly literal: RegExp; readonly parse: (written: string) => string },
): readonly { readonly all: readonly Entry[]; readonly copied: readonly Entry[] }[] {
  const item = `(?:${literal.source})`;
  const list = new RegExp(
    String.raw`[[({]\s*(${item}(?:\s*,\s*${item}){2,200})\s*,?\s*[\])}]`,
    "g",
  );
  const lists = [...text.matchAll(list)]
    .slice(0, listsMax)
    .map(([, inner = ""]) => (inner.match(literal) ?? []).map(parse))
    .filter(({ length }) => length >= entriesMin);

  const isAsked = ([input, answer]: Entry): boolean =>
    lines.some(
      (values) =>
        values.includes(answer) && values.some((value) => value !== answer && isOf(value, input)),
    );

  return lists.flatMap((inputs) =>
    lists
      .filter((answers) => answers !== inputs && answers.length === inputs.length)
      .map((answers) => {
        const all = inputs.map((input, index): Entry => [input, answers[index] ?? ""]);
        return { all, copied: all.filter(isAsked) };
      }),
  );
}

const isOf = (value: string, input: string): boolean =>
  value === input || (input.length >= startCharsMin && value.startsWith(input));
