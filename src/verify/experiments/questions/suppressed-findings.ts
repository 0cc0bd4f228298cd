// suppressed-findings: asks whether a check passes only because new code is kept from it by a
// comment or an attribute (`istanbul ignore`, `# noqa`, `#[allow(…)]`). These are the tools' own
// words, so this is a list. What a type checker is kept from is asked in untyped-code.ts.

import { listSome } from "../../../kit/list-some.ts";
import type { Edit } from "../lab.ts";
import {
  type ChangedFile,
  type QuestionContext,
  type RaisedQuestion,
  readSources,
} from "./question-context.ts";

/**
 * Each becomes a comment or attribute that means nothing. What stands in a text (`"# noqa"`) is
 * none.
 */
const directives: readonly (readonly [directive: RegExp, replacement: string])[] = [
  [
    /(?<=(?<!["'`])(?:\/\*|\/\/|#)\s{0,9})(?:(?:istanbul|c8|v8) ignore\b|pragma: ?no cover\b|coverage: ?ignore\b|LCOV_EXCL_\w+)/g,
    "",
  ],
  [
    /(?<=(?<!["'`])(?:\/\*|\/\/|#)\s{0,9})(?:(?:eslint|oxlint|stylelint)-disable(?:-next-line|-line)?\b|biome-ignore(?:-all)?\b|rubocop:disable\b|shellcheck disable=)/g,
    "note ",
  ],
  [
    /(?<!["'`])#\s*(?:noqa|type:\s*ignore|nosec|pylint:\s*(?:disable|skip-file)|pyright:\s*ignore)\b[^#\n]*/g,
    "",
  ],
  [/(?<!["'`])\/\/\s*(?:nolint|NOLINT)\b[^\n]*/g, ""],
  [/@SuppressWarnings\s*(?:\([^)\n]*\))?/g, ""],
  [/^\s*#pragma (?:GCC|clang) diagnostic ignored\b[^\n]*/gm, ""],
  [/(?<=#!?\[)allow\(/g, "warn("],
];

export async function askSuppressedFindings(
  context: QuestionContext,
): Promise<RaisedQuestion | null> {
  if (!context.lab.wasRed) return null;
  const exposedFiles = (await readSources(context)).flatMap((file) => exposeFindings(file) ?? []);
  if (exposedFiles.length === 0) return null;
  const positions = listSome(
    exposedFiles.flatMap(({ path, lines }) => lines.map((line) => `${path}:${line}`)),
  );

  return {
    whether: `it passes without what keeps a checker from looking in ${positions}`,
    change: { edits: exposedFiles.map(({ path, text }) => ({ path, text })) },
    gap: `it passes only because new code is kept from a checker (${positions}), so a person has to look at that`,
  };
}

/**
 * The file with the directives of its new lines taken out of effect, and which lines those are;
 * null if there are none.
 */
export function exposeFindings({
  path,
  was,
  is,
}: ChangedFile): (Edit & { readonly lines: readonly number[] }) | null {
  const earlierLines = new Set((was ?? "").split("\n"));
  const lines: number[] = [];

  const text = is.split("\n").map((line, index) => {
    if (earlierLines.has(line)) return line;
    const exposed = directives.reduce(
      (done, [directive, replacement]) => done.replaceAll(directive, () => replacement),
      line,
    );
    if (exposed !== line) lines.push(index + 1);

    return exposed;
  });

  return lines.length === 0 ? null : { path, text: text.join("\n"), lines };
}
