// printed-values: an equality in Rust that is the work's own may forgive a wrong answer, and still
// not the expectation that is broken on purpose. Tests are played once more with an assert_eq! of
// our own, which compares what both sides print (`{:?}`) too. Pure.
//
// Invariants:
//   V1. Only an equality of a type that had none of its own. Values of types that the work adds may
//       be equal however it says; of a type that was there, or that contains the new one, tests
//       know what its values are.
//   V2. What is printed in any order (a HashMap) or with another sign of zero is the same; so are
//       values of types that name no type in common (a text of a Cow and a &str).
//   V3. Nothing is concluded where a person or a test speaks of equality.
//   V4. As many lines as before.

import { createNonce } from "../broken-expectations/choose-flips.ts";
import type { Edit } from "../lab.ts";
import {
  type QuestionContext,
  readAllTests,
  readSources,
  readTests,
  type TextFile,
  type RaisedQuestion,
  editTexts,
  type ChangedFile,
} from "./question-context.ts";
import { maskText } from "../../protected/mask-text.ts";
import { applyChanges } from "../source-text/apply-changes.ts";
import { findRustTests, isInside } from "../source-text/rust-places.ts";

/** What the work's own equalities are about. */
export type OwnEqualities = {
  /** The types that newly have one: `Money`. */
  readonly owners: readonly string[];
  /** Types that were there before, and types that the work adds, in the files with changes. */
  readonly known: readonly string[];
  readonly added: readonly string[];
};

/** Null if the work brings none (V1). */
export function findOwnEqualities(changed: readonly ChangedFile[]): OwnEqualities | null {
  const before = changed.map(({ was }) => maskText(was ?? "", "rust"));
  const now = changed.map(({ is }) => maskText(is, "rust"));
  const ownedBefore = new Set(before.flatMap(findOwners));
  const owners = [...new Set(now.flatMap(findOwners))].filter((name) => !ownedBefore.has(name));
  if (owners.length === 0) return null;

  const known = [...new Set(before.flatMap(findTypes))];
  const types = now.flatMap(findTypes);
  const isRenamed = known.some((name) => !types.includes(name));
  const added = isRenamed ? [] : [...new Set(types.filter((name) => !known.includes(name)))];

  return { owners, known, added };
}

const findTypes = (code: string): readonly string[] =>
  [...code.matchAll(/\b(?:struct|enum|union)\s+([A-Za-z_]\w*)/g)].map(([, name = ""]) => name);

/** The types in whose blocks `eq` or `ne` is defined; of a macro's the name of its parameter. */
const findOwners = (code: string): readonly string[] =>
  [...code.matchAll(/\bfn\s+(?:eq|ne)\s*[(<]/g)].flatMap(({ index }) => {
    const block = code.slice(code.lastIndexOf("impl", index), index);
    const owner = /\bfor\s+&?\s*(?:\w+\s*::\s*)*(\$?\w+)/.exec(block)?.[1];
    return owner === undefined ? [] : [owner];
  });

/** V3 */
export const speaksOfEquality = (words: string): boolean =>
  words
    .split(/[^A-Za-z=]+|(?<=[a-z])(?=[A-Z])/)
    .some((word) =>
      /^(?:==|partial|eq|equal\w*|equival\w*|same|cmp|compar\w*|order\w*|sort\w*|ignor\w*|insensitiv\w*|uniq\w*|dedup\w*)$/i.test(
        word,
      ),
    );

/**
 * A test file whose assert_eq! also compares what is printed, or only prints it; null if it has
 * none.
 */
export function comparePrinted(
  text: string,
  { known, added }: OwnEqualities,
  { nonce, compares }: { readonly nonce: string; readonly compares: boolean },
): string | null {
  const code = maskText(text, "rust");
  const places = findRustTests(code);
  const asserted = [...code.matchAll(/(?<![\w:])assert_eq!(?=\s*[([{])/g)].filter(
    ({ index }) => isInside(places, index) && !speaksOfEquality(findFunction(code, index)),
  );
  if (asserted.length === 0) return null;

  const definition = createMacro(nonce, known, compares ? added : null);
  const definitions = places.map(({ from }) => findFirstItem(code, from));
  if (definitions.includes(null)) return null;

  return applyChanges(text, [
    ...asserted.map(({ index }) => ({
      from: index,
      to: index + "assert_eq".length,
      text: nonce,
    })),
    ...definitions.map((at) => ({ from: at ?? 0, to: at ?? 0, text: `${definition} ` })),
  ]);
}

/** The name of the function around a position. */
const findFunction = (code: string, at: number): string =>
  [...code.slice(0, at).matchAll(/\bfn\s+(\w+)/g)].at(-1)?.[1] ?? "";

/** Where the first item of a file or of a module of tests may stand; null if that is unknown. */
function findFirstItem(code: string, from: number): number | null {
  const start = from === 0 && !/^\s*#\[cfg\(test\)\]/.test(code) ? 0 : code.indexOf("{", from) + 1;
  const inner =
    /^(?:\s*(?:#!\[[^[\]]*\]|\/\/[^\n]*|\/\*[^*]*\*\/))*\s*/.exec(code.slice(start))?.[0] ?? "";
  return code.startsWith("#!", start + inner.length) ? null : start + inner.length;
}

/** `added`: null if nothing is to be compared. */
function createMacro(
  nonce: string,
  known: readonly string[],
  added: readonly string[] | null,
): string {
  const list = (names: readonly string[]): string =>
    `&[${names.map((name) => `"${name}"`).join(", ")}]`;
  const look = `
    fn look<T: ::std::fmt::Debug + ?Sized>(value: &T) -> (&'static str, ::std::vec::Vec<char>) {
      let mut letters: ::std::vec::Vec<char> = ::std::format!("{:?}", value).replace("-0.0", "0.0").chars().collect();
      letters.sort();
      (::std::any::type_name::<T>(), letters)
    }
    fn names(one: &str, names: &[&str]) -> ::std::vec::Vec<::std::string::String> {
      one.split(|letter: char| !letter.is_alphanumeric() && letter != '_').filter(|part| names.contains(part)).map(|part| part.to_string()).collect()
    }
    let ((one, first), (other, second)) = (look(left), look(right));
    let (known, added): (&[&str], &[&str]) = (${list(known)}, ${list(added ?? [])});
    let is_known = one == other || names(one, known).iter().any(|name| names(other, known).contains(name));
    if ${String(added !== null)} && is_known && names(one, added).is_empty() && first != second {
      ::std::panic!("equal, but {:?} is not {:?}", left, right);
    }`;
  const arm = (parameters: string, message: string): string =>
    `($left:expr, $right:expr${parameters}) => { match (&$left, &$right) { (left, right) => { ::std::assert_eq!(*left, *right${message}); ${look} } } };`;

  return `#[allow(unused_macros)] macro_rules! ${nonce} { ${arm(" $(,)?", "")} ${arm(", $($message:tt)+", ", $($message)+")} }`
    .trim()
    .replaceAll(/\n\s*/g, " ");
}

export const describePrinted = (paths: readonly string[], owners: readonly string[]): string =>
  `answers pass for what is expected and are not that value, by an equality that the work brought (${owners.join(", ")}; ${paths.join(", ")}), so a person has to look at that`;

/**
 * Asks whether Rust tests pass if what is equal also has to print alike, in case the work brings an
 * equality of its own (printed-values.ts).
 */
export async function askPrintedValues(context: QuestionContext): Promise<RaisedQuestion | null> {
  const { lab, runWith, goal = "" } = context;
  const sources = (await readSources(context)).filter(({ path }) => path.endsWith(".rs"));
  const equalities = findOwnEqualities(sources);
  if (equalities === null || speaksOfEquality(goal)) return null;

  const files = await readRustFiles(context);
  const nonce = createNonce(lab.seed);
  const edit = (compares: boolean): readonly Edit[] =>
    editTexts(files, (_path, text) => comparePrinted(text, equalities, { nonce, compares }));
  const edits = edit(true);
  const paths = edits.map(({ path }) => path);
  const whether = `${paths.join(", ")} compares what is printed`;
  // With the same tests that only print it passes: they compile.
  const confirmed = async (): Promise<boolean> =>
    (await runWith(whether, { edits: edit(false) }))?.passed === true;

  return edits.length === 0
    ? null
    : { whether, change: { edits }, gap: describePrinted(paths, equalities.owners), confirmed };
}

/** The base's files of Rust, and new tests, as they are judged. */
async function readRustFiles(context: QuestionContext): Promise<readonly TextFile[]> {
  const there = await readTests(context, (path) => path.endsWith(".rs"));
  const known = new Set(there.map(({ path }) => path));
  const all = await readAllTests(context);
  return [...there, ...all.filter(({ path }) => path.endsWith(".rs") && !known.has(path))];
}
