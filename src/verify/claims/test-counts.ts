// test-counts: counts the tests that a file contains, by the form of test functions in its
// language. Pure.

/** `repeatForm`: what makes several tests of one: a table, a loop. */
const languages: readonly {
  readonly files: RegExp;
  readonly testForm: RegExp;
  readonly repeatForm: RegExp;
}[] = [
  {
    files: /\.[cm]?[jt]sx?$/,
    testForm: /^[ \t]*(?:it|test)(?:\.\w+)*\s*\(/gm,
    repeatForm: /\b(?:it|test|describe)\.(?:each|for)\b|\bfor \(/,
  },
  {
    files: /\.py$/,
    testForm: /^[ \t]*(?:async )?def test\w*\s*\(/gm,
    repeatForm: /parametrize|subTest|expand\(/,
  },
  { files: /\.go$/, testForm: /^func (?:Test|Benchmark|Fuzz)\w*\s*\(/gm, repeatForm: /\bt\.Run\(/ },
  {
    files: /\.rs$/,
    testForm: /#\[(?:\w+::)*(?:test|rstest)\b[^\]]*\]/g,
    repeatForm: /#\[(?:case|rstest)/,
  },
  {
    files: /\.(?:java|kt|scala|groovy)$/,
    testForm: /@(?:Test|ParameterizedTest|RepeatedTest|TestFactory)\b/g,
    repeatForm: /@(?:Parameterized|Repeated|TestFactory)/,
  },
  {
    files: /\.rb$/,
    testForm: /^[ \t]*(?:it|test|specify)\s+["']|^[ \t]*def test_/gm,
    repeatForm: /\.each\b/,
  },
];

/**
 * `isMinimum`: a table or a loop may produce several tests from one. Null for an unknown language.
 */
export function countTests(
  path: string,
  text: string,
): { readonly count: number; readonly isMinimum: boolean } | null {
  const language = languages.find(({ files }) => files.test(path));
  if (language === undefined) return null;
  return {
    count: [...text.matchAll(language.testForm)].length,
    isMinimum: language.repeatForm.test(text),
  };
}
