// test-counts: how many tests a file contains, by the form of test functions in its language. Pure.

const patterns: readonly { readonly files: RegExp; readonly one: RegExp; readonly many: RegExp }[] = [
  {
    files: /\.[cm]?[jt]sx?$/,
    one: /^[ \t]*(?:it|test)(?:\.\w+)*\s*\(/gm,
    many: /\b(?:it|test|describe)\.(?:each|for)\b|\bfor \(/,
  },
  { files: /\.py$/, one: /^[ \t]*(?:async )?def test\w*\s*\(/gm, many: /parametrize|subTest|expand\(/ },
  { files: /\.go$/, one: /^func (?:Test|Benchmark|Fuzz)\w*\s*\(/gm, many: /\bt\.Run\(/ },
  { files: /\.rs$/, one: /#\[(?:\w+::)*(?:test|rstest)\b[^\]]*\]/g, many: /#\[(?:case|rstest)/ },
  {
    files: /\.(?:java|kt|scala|groovy)$/,
    one: /@(?:Test|ParameterizedTest|RepeatedTest|TestFactory)\b/g,
    many: /@(?:Parameterized|Repeated|TestFactory)/,
  },
  { files: /\.rb$/, one: /^[ \t]*(?:it|test|specify)\s+["']|^[ \t]*def test_/gm, many: /\.each\b/ },
];

/** `isLeast`: a table or a loop may produce several from one. Null for an unknown language. */
export function testsIn(path: string, text: string): { readonly count: number; readonly isLeast: boolean } | null {
  const known = patterns.find(({ files }) => files.test(path));
  if (known === undefined) return null;
  return { count: [...text.matchAll(known.one)].length, isLeast: known.many.test(text) };
}
