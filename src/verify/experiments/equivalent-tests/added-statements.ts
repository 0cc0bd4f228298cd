// added-statements: puts a statement that does nothing at the beginning of each function of a
// compiled test file, with a text of its own. The machine code of the tests and what lies beside
// their literals are others then; code that goes by its compiled caller no longer recognises it.
// Pure.
//
// Invariants:
//   D1. Only bodies of functions: no constant expression, no initialiser, nothing in a macro. In a
//       source file of Rust only the module of its tests.
//   D2. As many lines as before.
//   D3. Only files that assert: a program that tests read, and don't run, stays as it is.

import { detectSourceLanguage } from "../../protected/source-language.ts";
import { maskText } from "../../protected/mask-text.ts";
import { applyChanges } from "../source-text/apply-changes.ts";
import {
  findRustBlocks,
  findRustBody,
  findRustTests,
  isInside,
} from "../source-text/rust-places.ts";

const functionsMax = 400;
/** D3 */
const dataFolder =
  /(?:^|\/)(?:fixtures?|test_?data|data|golden|samples?|cases|inputs?|expected|corpus|snapshots?|ui)\//i;
const textCharsMax = 400_000;

/** The test file with added statements; the same text if there is nowhere to put one. */
export function addStatements(path: string, text: string, nonce: string): string {
  const language = detectSourceLanguage(path);
  if ((language !== "c" && language !== "rust") || dataFolder.test(path)) return text;
  if (text.length > textCharsMax) return text;
  const code = maskText(text, language);
  const bodies = language === "c" ? findBodiesInC(code) : findBodiesInRust(code);
  const write = language === "c" ? writeInC : writeInRust;

  return applyChanges(
    text,
    bodies
      .slice(0, functionsMax)
      .map((at, index) => ({ from: at, to: at, text: write(nonce, `${nonce}-${index}`) })),
  );
}

/** The pointer is volatile: no optimisation leaves it or its text out. */
const writeInC = (name: string, text: string): string =>
  ` { const char *volatile ${name} = "${text}"; (void)${name}; }`;
const writeInRust = (_name: string, text: string): string =>
  ` let _ = ::std::hint::black_box("${text}");`;

/**
 * The same test files, as programs that end well before they begin: they show that the changed text
 * compiles. Null if the language has no such thing.
 */
export function endAtOnce(path: string, text: string, nonce: string): string | null {
  if (detectSourceLanguage(path) !== "c") return null;
  const isPlainC = path.endsWith(".c");
  const exit = `extern ${isPlainC ? "" : '"C" '}void _exit(int);`;
  return `${text}\n${exit}\n__attribute__((constructor)) static void ${nonce}_end(void) { _exit(0); }\n`;
}

/** D3 */
const assertsInC =
  /\b(?:\w*assert\w*|\w*CHECK\w*|\w*EXPECT\w*|REQUIRE\w*|abort|_?exit|fail\w*)\s*\(|\breturn\s+(?:[1-9]|\w*fail\w*|EXIT_FAILURE|!)/i;
/** What stands before a function's body in C and C++; with `=`, it may be an initialiser. */
const headInC = /^[^=]*\w\s*\([^=]*\)\s*(?:const|noexcept|override|final|\s)*$/;
const otherHeadInC =
  /^(?:if|for|while|switch)\b|\b(?:constexpr|consteval|__attribute__|__declspec|alignas|typedef|enum|catch|naked)\b/;
/** What is no nesting: `extern "C" {`, `namespace a {`, `class A : public B {`. */
const containerInC =
  /^(?:extern\s*"[^"]*"|(?:inline\s+)?namespace\b[\w:\s]*|(?:\w+\s*:\s*)?(?:template\s*<[^{}]*>\s*)?(?:class|struct)\b[^=()]*)$/;

/** The positions behind the brackets that open the functions' bodies (D1). */
function findBodiesInC(masked: string): readonly number[] {
  const code = masked.replaceAll(/^[ \t]*#(?:[^\n]*\\\n)*[^\n]*/gm, (line) =>
    line.replaceAll(/[^\n]/g, " "),
  );
  if (!assertsInC.test(code)) return [];
  const bodies: number[] = [];
  let isContainer: readonly boolean[] = [];
  let headFrom = 0;

  for (const { 0: letter, index } of code.matchAll(/[{};]/g)) {
    const isOutside = isContainer.every(Boolean);
    if (letter === "{") {
      const head = code.slice(headFrom, index).trim();
      const opensContainer = isOutside && containerInC.test(head);
      if (isOutside && !opensContainer && headInC.test(head) && !otherHeadInC.test(head)) {
        bodies.push(index + 1);
      }
      isContainer = [...isContainer, opensContainer];
    } else if (letter === "}") {
      isContainer = isContainer.slice(0, -1);
    }
    if (isContainer.every(Boolean)) headFrom = index + 1;
  }

  return bodies;
}

/** The same in Rust; a `const fn` may not call what hides a value from optimisation. */
function findBodiesInRust(code: string): readonly number[] {
  const places = findRustTests(code);
  const macros = findRustBlocks(code, /\bmacro_rules!\s*\w+\s*[{([]/g);

  return [...code.matchAll(/\bfn\s+\w+/g)].flatMap(({ 0: head, index }) => {
    const isConstant = /\bconst\s+(?:unsafe\s+)?(?:extern\s+"[^"]*"\s+)?$/.test(
      code.slice(Math.max(0, index - 60), index),
    );
    if (isConstant || !isInside(places, index) || isInside(macros, index)) return [];
    const body = findRustBody(code, index + head.length);
    return body === null || /^\s*#!/.test(code.slice(body, body + 200)) ? [] : [body];
  });
}
