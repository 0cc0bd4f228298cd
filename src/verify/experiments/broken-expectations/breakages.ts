// breakages: ways to break a source file that a check without tests (a compiler, a linter, a build)
// should notice. Pure.

export type Breakage = {
  readonly path: string;
  readonly what: string;
  readonly apply: (text: string) => string;
};

const withLine =
  (line: string) =>
  (text: string): string =>
    `${text}${text.endsWith("\n") || text === "" ? "" : "\n"}${line}\n`;

/**
 * For languages that check types, a wrong type is tried first: a file can be excluded from type
 * checking and still be parsed.
 */
const wrongTypes: readonly (readonly [RegExp, string])[] = [
  [/\.[cm]?tsx?$/, 'export const checkedValue: number = "text";'],
  [/\.pyi?$/, 'checked_value: int = "text"'],
];
/** A text that no parser accepts. */
const syntaxError = "}{ )( = =";
const parsedFile =
  /\.(?:[cm]?[jt]sx?|vue|svelte|pyi?|go|rs|java|kts?|scala|groovy|c|cc|cpp|h|hpp|cs|rb|php|swift|json|ya?ml|toml|css|scss|html|sh|bash|pl|pm|t|lua|exs?|dart|zig)$/;

/** The possible breakages of a file, a syntax error last; none for a file that no tool parses. */
export function listBreakages(path: string): readonly Breakage[] {
  if (!parsedFile.test(path)) return [];
  const typed = wrongTypes
    .filter(([ending]) => ending.test(path))
    .map(([, line]) => ({ path, what: "a wrong type", apply: withLine(line) }));
  return [...typed, { path, what: "a syntax error", apply: withLine(syntaxError) }];
}
