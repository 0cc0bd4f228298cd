// altered-answers: changes the work's own functions so that each gives another answer of the same
// kind than it would: a larger number, the opposite, a longer list. Tests that only look at an
// answer's kind do not notice. JavaScript, TypeScript and Python.
//
// Invariants:
//   A1. A function is run as it is, and its answer is altered: what it does besides is done. An
//       answer of another kind (a text, an object, nothing) becomes an error, which tests notice:
//       for texts, mutations.ts shows the same.
//   A2. Only what a test itself is given is altered, not what altered functions give each other:
//       two changes could cancel out.
//   A3. It is worth a run only if a test that calls a function may look at kinds. That is a list of
//       words.

import { detectSourceLanguage } from "../../protected/source-language.ts";
import { maskText } from "../../protected/mask-text.ts";
import { applyChanges, type TextChange } from "../source-text/apply-changes.ts";
import { findClosingBracket } from "../source-text/brackets.ts";
import { type Definition, findDefinitions } from "../source-text/definitions.ts";
import { createNonce } from "../broken-expectations/choose-flips.ts";
import { findUnnoticed, listFunctions, type MutatedFunctions } from "./mutations.ts";
import { type ChangedFile, type QuestionContext, readSources } from "./question-context.ts";

/**
 * `typeof n === "number"`, `isinstance(n, int)`, `toBeDefined()`, `n >= 0`, `assert f(x)`,
 * `len(list) > 0`.
 */
const looksAtKinds =
  /\btypeof\b|\binstanceof\b|\bisinstance\b|\bis not None\b|\bto(?:Be)?(?:Defined|Truthy|GreaterThan\w*|LessThan\w*|InstanceOf|TypeOf)\b|\bnot\.to\w|\bassert(?:True|IsInstance|IsNotNone|Greater\w*|Less\w*)\b|\.ok\(|\bisArray\b|\bdoesNotThrow\b|[<>]=?\s*-?\d|\bto\.(?:be|exist)\b|\bassert\s+(?:not\s+)?[\w.]+\([^=<>]*$/m;

/**
 * Functions whose new tests notice that they answer something else, and not that it is another
 * answer of the same kind.
 */
export async function findKindsOnly(context: QuestionContext): Promise<string | null> {
  const { mutant, lab, runWith } = context;
  if (mutant === null || findUnnoticed(mutant.change, lab.now, mutant.observed)?.length !== 0) {
    return null;
  }

  const nonce = createNonce(`${lab.seed} kinds`);
  const altered = alterAnswers(await readSources(context), mutant.change, nonce);
  if (altered === null) return null;

  const names = listFunctions(altered.functions);
  const whether = `a test notices another answer of the same kind from ${names}`;
  const observed = await runWith(whether, { edits: altered.edits });
  if (observed === null) return null;

  const unnoticed = findUnnoticed(altered, lab.now, observed) ?? [];
  return unnoticed.length === 0 ? null : describeKindsOnly(listFunctions(unnoticed));
}

const describeKindsOnly = (functions: string): string =>
  `no test notices another number, the opposite or a longer list from ${functions}: they only look at the kind of its answers`;

/**
 * The functions that `mutated` names, with altered answers; null if no test that calls one may look
 * at kinds, or none can be altered.
 */
export function alterAnswers(
  sources: readonly ChangedFile[],
  { functions, cases }: Pick<MutatedFunctions, "functions" | "cases">,
  nonce: string,
): Omit<MutatedFunctions, "editsOf"> | null {
  const mayPass = functions.filter(({ name }) =>
    cases.some(({ text }) => text.includes(`${name}(`) && looksAtKinds.test(text)),
  ); // A3
  const namesIn = (path: string): ReadonlySet<string> =>
    new Set(mayPass.filter((candidate) => candidate.path === path).map(({ name }) => name));

  const alteredFiles = sources
    .map(({ path, is }) => alterFile(path, is, namesIn(path), nonce))
    .filter((file) => file !== null);
  const names = new Map(alteredFiles.map((file) => [file.path, file.names]));
  const altered = mayPass.filter(({ path, name }) => names.get(path)?.includes(name) === true);
  if (altered.length === 0) return null;

  const edits = alteredFiles.map(({ path, text }) => ({ path, text }));
  return { edits, functions: altered, cases };
}

type AlteredFile = {
  readonly path: string;
  readonly text: string;
  readonly names: readonly string[];
};

function alterFile(
  path: string,
  text: string,
  names: ReadonlySet<string>,
  nonce: string,
): AlteredFile | null {
  const language = detectSourceLanguage(path);
  const definitions = findDefinitions(path, text).filter(
    ({ name, isFunction }) => isFunction && names.has(name),
  );
  if (definitions.length === 0) return null;
  const found = definitions.map(({ name }) => name);

  if (language === "py") {
    return { path, text: `${text}\n\n${createPythonWrapper(nonce, found)}`, names: found };
  }

  if (language !== "js") return null;
  const code = maskText(text, "js");
  const changes = definitions.map((definition) => ({
    name: definition.name,
    changes: wrapBody(definition, code, nonce),
  }));
  const wrapped = changes.filter(({ changes: own }) => own.length > 0);
  if (wrapped.length === 0) return null;
  const directive = /\.[cm]?tsx?$/.test(path) ? "// @ts-nocheck\n" : "";
  const altered = applyChanges(
    text,
    wrapped.flatMap(({ changes: own }) => own),
  );

  return {
    path,
    text: `${directive}${altered}\n${createJsWrapper(nonce)}`,
    names: wrapped.map(({ name }) => name),
  };
}

/**
 * `{ return a; }` becomes `{ return NONCE(() => { return a; }); }`, and `=> a` becomes `=> NONCE(()
 * => (a))`. None for a generator.
 */
function wrapBody({ from, to }: Definition, code: string, nonce: string): readonly TextChange[] {
  const functionText = code.slice(from, to);
  const [, isAsync = ""] =
    /^(?:[^=(]*=\s*)?(?:export\s+|default\s+|static\s+|public\s+|private\s+)*(async\b)?/.exec(
      functionText,
    ) ?? [];

  const isGenerator = /^[^(]*\*/.test(functionText);
  const body = isGenerator ? null : findBody(functionText);
  if (body === null) return [];
  const open = isAsync === "" ? `${nonce}(() => ` : `${nonce}(async () => `;

  const insert = (position: number, text: string): TextChange => ({
    from: from + position,
    to: from + position,
    text,
  });

  if (functionText[body.from] !== "{")
    return [insert(body.from, `${open}(`), insert(body.to, "))")];
  return [insert(body.from + 1, ` return ${open}{`), insert(body.to - 1, "}); ")];
}

/** A function's body, with its braces if it has them. */
function findBody(own: string): { readonly from: number; readonly to: number } | null {
  const arrow = /^[^=(]*=\s*(?:async\s*)?(?:\([^()]*\)|[\w$]+)\s*(?::[^={]*)?=>\s*/.exec(own);
  if (arrow !== null && own[arrow[0].length] !== "{") {
    return { from: arrow[0].length, to: own.replace(/[;\s]*$/, "").length };
  }

  const headEnd = arrow === null ? findParametersEnd(own) : arrow[0].length - 1;
  const from = headEnd === null ? -1 : own.indexOf("{", headEnd);
  const to = from === -1 ? null : findClosingBracket(own, from);
  return to === null ? null : { from, to };
}

function findParametersEnd(own: string): number | null {
  const parameters = own.indexOf("(");
  return parameters === -1 ? null : findClosingBracket(own, parameters);
}

/** A function declaration is hoisted: it can be called before anything else of the module. */
const createJsWrapper = (nonce: string): string => `
function ${nonce}(run) {
  const state = (globalThis.${nonce} ??= { depth: 0 });
  if (state.depth > 0) return run();
  const alter = (answer) => {
    if (typeof answer === "boolean") return !answer;
    if (typeof answer === "bigint") return answer + 1n + (answer < 0n ? -answer : answer);
    if (Number.isFinite(answer)) return answer + 1 + Math.abs(answer);
    if (Array.isArray(answer)) return [...answer, answer.at(-1)];
    throw new Error("${nonce}");
  };
  state.depth += 1;
  let answer;
  try {
    answer = run();
  } finally {
    state.depth -= 1;
  }
  return typeof answer?.then === "function" ? answer.then(alter) : alter(answer);
}
`;

const createPythonWrapper = (nonce: string, names: readonly string[]): string => `
def ${nonce}(names):
    import functools, inspect, math
    depth = []
    def alter(answer):
        if type(answer) is bool:
            return not answer
        if type(answer) is int or type(answer) is float and math.isfinite(answer):
            return answer + 1 + abs(answer)
        if type(answer) in (list, tuple):
            return type(answer)([*answer, *(answer[-1:] or [None])])
        raise RuntimeError("${nonce}")
    def wrap(f):
        @functools.wraps(f)
        def altered(*args, **named):
            if depth:
                return f(*args, **named)
            depth.append(1)
            try:
                answer = f(*args, **named)
            finally:
                depth.pop()
            return alter(answer)
        is_plain = inspect.isfunction(f) and not inspect.isgeneratorfunction(f) and not inspect.iscoroutinefunction(f)
        return altered if is_plain else f
    owners = [value for value in list(globals().values()) if inspect.isclass(value) and value.__module__ == __name__]
    for name in names:
        if name in globals():
            globals()[name] = wrap(globals()[name])
        for owner in owners:
            if name in vars(owner):
                setattr(owner, name, wrap(vars(owner)[name]))
${nonce}(${JSON.stringify(names)})
`;
