// build-macros: finds the macros of a C build that only rules for tests define (`-DUNIT_TEST`), or
// only others (`-DRELEASE`). Pure.

type RuleMacros = {
  /** Macros that rules for tests define and no other rule or variable does. */
  readonly ofTests: ReadonlySet<string>;
  /**
   * Macros that other rules define, and neither rules for tests nor a variable of all rules does:
   * those of a release.
   */
  readonly ofOthers: ReadonlySet<string>;
};

/** Reads a makefile: which `-D` macros only rules for tests define, and which only others. */
export function findRuleMacros(makefile: string): RuleMacros {
  const testMacros = new Set<string>();
  const otherMacros = new Set<string>();
  const sharedMacros = new Set<string>();
  let ruleMacros = otherMacros;
  let isSharedVariable = false;

  for (const line of makefile.replaceAll("\\\n", " ").split("\n")) {
    const target = /^([^\s#:=][^:=#]*):(?!=)/.exec(line)?.[1];
    if (target !== undefined) ruleMacros = testTarget.test(target) ? testMacros : otherMacros;
    isSharedVariable = target === undefined && (isSharedVariable || /^\S/.test(line)); // a variable for all rules

    const macros = isSharedVariable ? sharedMacros : ruleMacros;
    for (const [, name = ""] of line.matchAll(/-D\s?([A-Za-z_]\w*)/g)) macros.add(name);
  }

  const without = (set: ReadonlySet<string>, other: ReadonlySet<string>): ReadonlySet<string> =>
    new Set([...set].filter((name) => !other.has(name) && !sharedMacros.has(name)));
  return { ofTests: without(testMacros, otherMacros), ofOthers: without(otherMacros, testMacros) };
}
const testTarget = /(?:^|[\s/_.-])(?:unit)?(?:tests?|check|spec)(?:$|[\s/_.-])/i;

/** The macros that `#if` lines of the work ask for. */
export function findConditionMacros(
  text: string,
  isNew: (from: number, to: number) => boolean,
): readonly string[] {
  const lines = [...text.matchAll(/^[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif)\b.*$/gm)];
  const newLines = lines.filter(({ index, 0: line }) => isNew(index, index + line.length));

  const words = newLines.flatMap(([line]) => {
    const condition = line.replaceAll(/\b__has_\w+\s*\([^)]*\)/g, "");
    return condition.match(/\b[A-Za-z_]\w*\b/g) ?? [];
  });
  return [...new Set(words)].filter((word) => !ignoredWords.test(word));
}

/** Words of the preprocessor, and macros that build-conditions.ts switches itself. */
const ignoredWords = /^(?:if|ifdef|ifndef|elif|defined|NDEBUG|__OPTIMIZE__)$/;

/**
 * A macro that the compiler defines for some of its flags (`__STRICT_ANSI__`,
 * `__SANITIZE_ADDRESS__`), not for a machine or a language.
 */
export const isMacroOfCompilerFlag = (name: string): boolean =>
  /^__[A-Z]/.test(name) && !machineMacro.test(name);
/** Macros that say which machine, compiler or library it is; honest code asks for them. A list. */
const machineMacro =
  /^__(?:APPLE|ANDROID|FreeBSD|OpenBSD|NetBSD|MINGW|CYGWIN|EMSCRIPTEN|GNUC|GLIBC|STDC|BYTE_ORDER|ORDER|SIZEOF|INT|UINT|LP64|ILP32|SSE|AVX|ARM|AARCH64|POWERPC|CHAR|WCHAR|FLT|DBL|LDBL|VERSION|FILE|LINE|DATE|TIME|[A-Z_]*_H(?:_|$))/;
