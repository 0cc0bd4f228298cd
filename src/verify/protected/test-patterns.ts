// test-patterns: counts test cases, assertions, skips, mocks and the like in a test file, by
// patterns of its language. Comments and strings are blanked out first. The text is an agent's, so
// no pattern here may backtrack far.

import type { Language } from "./rows/protection-row.ts";
import { maskText } from "./mask-text.ts";

type TestPatterns = Readonly<
  Record<"cases" | "assertions" | "skips" | "focuses" | "mocks" | "empty", RegExp>
>;
/** Matches nothing: the language has no such thing. */
const never = /$^/g;

const patternsByLanguage: Readonly<Record<Language, TestPatterns>> = {
  js: {
    cases: /(?<![.\w$])(?:x|f)?(?:it|test|specify)(?:\.\w+)*\s*[(`]/g,
    assertions:
      /(?<![.\w$])(?:expect|assert)(?:\.\w+)*\s*\(|\.should\b|(?<![.\w$])t\.(?:is|not|true|false|truthy|falsy|deepEqual|like|throws\w*|equal\w*|same|ok|match|assert)\s*\(/g,
    skips:
      /(?<![.\w$])(?:it|test|describe|suite|context|specify|t)(?:\.\w+)*\.(?:skip|todo|skipIf|runIf|fixme|fails|failing)\b|(?<![.\w$])x(?:it|test|describe|context|specify)\s*[(.]|\bthis\.skip\s*\(|\b(?:skip|todo)\s*:\s*(?!false\b)/g,
    focuses:
      /(?<![.\w$])(?:it|test|describe|suite|context|specify)(?:\.\w+)*\.only\b|(?<![.\w$])f(?:it|describe|test|context)\s*\(|\bonly\s*:\s*true/g,
    mocks:
      /\b(?:jest|vi|vitest)\.(?:mock|doMock|unstable_mockModule|spyOn|stubGlobal|importMock)\s*\(|\bmock\.(?:module|method)\s*\(|\bproxyquire\b|\b(?:sinon|sandbox)\.(?:stub|replace|fake)\b|\btd\.replace\b|\bmockImplementation\w*\s*\(|\bmockReturn\w*\s*\(/g,
    empty:
      /\bexpect\s*\(\s*(true|false|1|0|null|undefined)\s*\)\s*\.\s*to\w+\s*\(\s*\1?\s*\)|\bassert(?:\.ok)?\s*\(\s*(?:true|1)\s*[,)]/g,
  },
  py: {
    cases: /^[ \t]*(?:async[ \t]+)?def[ \t]+test\w*[ \t]*\(/gm,
    assertions:
      /^[ \t]*assert\b|\bself\.(?:assert\w+|fail)\s*\(|\bpytest\.(?:raises|warns|fail)\s*\(/gm,
    skips:
      /\bpytest\.(?:mark\.(?:skip|skipif|xfail)|skip|xfail|importorskip)\b|\bunittest\.(?:skip\w*|expectedFailure)\b|@skip\w*\b|\bself\.skipTest\b|\bcollect_ignore\w*\b|\b__test__\s*=\s*False/g,
    focuses: never,
    mocks:
      /\bpatch(?:\.(?:object|dict|multiple))?\s*\(|\bmonkeypatch\.\w+\s*\(|\b(?:Magic|Async|Property)?Mock\s*\(|\bmocker\.\w+/g,
    empty: /^[ \t]*assert[ \t]+(?:True|1)\b|\bassertTrue\s*\(\s*True\s*\)/gm,
  },
  go: {
    cases: /\bfunc[ \t]+(?:Test|Fuzz|Example)\w*[ \t]*\(|\b\w\.Run\s*\(|(?<![.\w])It\s*\(/g,
    assertions:
      /\bt\w?\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\s*\(|\b(?:assert|require|is|qt)\.\w+\s*\(|\bExpect\s*\(/g,
    skips:
      /\bt\w?\.Skip(?:f|Now)?\s*\(|\btesting\.Short\s*\(|(?<![.\w])X(?:It|Describe|Context)\s*\(/g,
    focuses: /(?<![.\w])F(?:It|Describe|Context)\s*\(/g,
    mocks: /\bgomock\.\w+|\bNewMock\w*\s*\(|\bmonkey\.Patch\w*/g,
    empty: /\b(?:assert|require)\.True\s*\(\s*t\s*,\s*true\s*[,)]/g,
  },
  rust: {
    cases: /#\[\s*(?:\w+::)*(?:test|rstest|test_case|quickcheck|proptest)\b[^\]]{0,200}\]/g,
    assertions:
      /\b(?:debug_|prop_)?assert(?:_eq|_ne|_matches)?!|\bpanic!|\bunreachable!|#\[\s*should_panic/g,
    skips:
      /#\[\s*ignore\b|#\[\s*cfg\s*\(\s*any\s*\(\s*\)\s*\)|#!?\[\s*cfg_attr\s*\([^\]]{0,200}ignore/g,
    focuses: never,
    mocks: /\bmockall\b|#\[\s*(?:auto)?mock\b|\bmock!/g,
    empty: /\bassert!\s*\(\s*true\s*[,)]/g,
  },
  java: {
    cases: /@(?:Test|ParameterizedTest|RepeatedTest|TestFactory|Theory)\b/g,
    assertions: /\b(?:assert\w*|assertThat|expectThrows|fail)\s*\(|\bshould\w*\s*[({]/g,
    skips: /@(?:Disabled\w*|Ignore|EnabledIf\w*)\b|\bassum(?:e|ing)\w*\s*\(|\bAssumptions\./g,
    focuses: never,
    mocks:
      /@(?:Mock|MockBean|Spy|InjectMocks)\b|\b(?:Mockito\.)?(?:mock|spy|mockStatic|mockkObject|mockk)\s*[(<]/g,
    empty: /\bassertTrue\s*\(\s*true\s*[,)]/g,
  },
};

export type PatternCounts = Readonly<Record<keyof TestPatterns, number>>;

/** Go's build constraints are comments, so they are searched in the original text. */
const ignoredBuild = /^\/\/\s*(?:go:build|\+build)\s+.*\bignore\b/gm;

export function countPatterns(text: string, family: Language): PatternCounts {
  const code = maskText(text, family);
  const count = (pattern: RegExp): number => code.match(pattern)?.length ?? 0;
  const { cases, assertions, skips, focuses, mocks, empty } = patternsByLanguage[family];

  return {
    cases: count(cases),
    assertions: count(assertions),
    skips: count(skips) + (family === "go" ? (text.match(ignoredBuild)?.length ?? 0) : 0),
    focuses: count(focuses),
    mocks: count(mocks),
    empty: count(empty),
  };
}
