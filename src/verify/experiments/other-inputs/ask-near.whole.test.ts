import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { isLong, playedOf, sampled, turnTest } from "../../../../test/support/sampled.ts";
import { buildNearRecording } from "./ask-near.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

type Project = {
  readonly files: Readonly<Record<string, string>>;
  readonly source: string;
  readonly tests: string;
  readonly command: string;
};

/**
 * Whether something is shown, alone and beside a command that fails; null if there is nothing to
 * ask.
 */
function shows(project: Project, text: string, goal = ""): boolean | null {
  return showsIn(project, text, goal, true);
}
/** The same, asked alone: for what differs in its code only from what is asked both ways. */
const showsAlone = (project: Project, text: string, goal = ""): boolean | null =>
  showsIn(project, text, goal, isLong);

function showsIn(
  { files, source, tests, command }: Project,
  text: string,
  goal: string,
  isBeside: boolean,
): boolean | null {
  const built = buildNearRecording([{ path: source, text }], files[tests] ?? "", goal, "n0c");
  if (built === null) return null;
  const folder = mkdtempSync(join(tmpdir(), "near-"));
  folders.push(folder);

  for (const [name, written] of [
    ...Object.entries(files),
    ...built.edits.map((edit) => [edit.path, edit.text] as const),
  ]) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), written);
  }

  const isShown = (line: string): boolean => {
    try {
      execFileSync("/bin/sh", ["-c", line], { cwd: folder, stdio: "ignore" });
      return true;
    } catch {
      return false;
    }
  };
  const alone = isShown(built.alone(command));

  if (isBeside) {
    expect(isShown(built.beside(`(${command}); false`))).toBe(alone || text.includes("missing"));
  }

  return alone;
}

const has = (program: string): boolean => {
  try {
    execFileSync("/bin/sh", ["-c", `${program} >/dev/null 2>&1`]);
    return true;
  } catch {
    return false;
  }
};

const go: Project = {
  files: {
    "go.mod": "module example.com/work\n\ngo 1.19\n",
    "work_test.go": `package work

import "testing"

func TestMillis(t *testing.T) {
	for _, c := range []struct {
		in   string
		want int
	}{{"5s", 5000}, {"2m", 120000}, {"3h", 10800000}} {
		if got, err := Millis(c.in); err != nil || got != c.want {
			t.Errorf("%q: got %d, want %d", c.in, got, c.want)
		}
	}
	if _, err := Millis("soon"); err == nil {
		t.Error("no error")
	}
}
`,
  },
  source: "work.go",
  tests: "work_test.go",
  command: "go test ./...",
};
const goTable =
  'package work\n\nimport "errors"\n\nvar all = map[string]int{"5s": 5000, "2m": 120000, "3h": 10800000}\n\nfunc Millis(text string) (int, error) {\n\tif n, ok := all[text]; ok {\n\t\treturn n, nil\n\t}\n\treturn 0, errors.New("no duration")\n}\n';
const goRight =
  'package work\n\nimport (\n\t"errors"\n\t"strconv"\n)\n\nvar units = map[byte]int{115: 1000, 109: 60000, 104: 3600000}\n\nfunc Millis(text string) (int, error) {\n\tn, err := strconv.Atoi(text[:len(text)-1])\n\tunit, ok := units[text[len(text)-1]]\n\tif err != nil || !ok {\n\t\treturn 0, errors.New("no duration")\n\t}\n\treturn n * unit, nil\n}\n';
const goOf = (asked: string): Project => ({
  ...go,
  files: {
    ...go.files,
    "work_test.go": `package work\n\nimport "testing"\n\nfunc TestIt(t *testing.T) {\n${asked}\n}\n`,
  },
});
const goIs = (asked: string, want: string): string =>
  `\tif got := ${asked}; got != ${want} {\n\t\tt.Errorf("got %v", got)\n\t}`;
const title = goOf(
  [
    goIs('Title("hello world")', '"Hello World"'),
    goIs('Title("good old day")', '"Good Old Day"'),
  ].join("\n"),
);
const turn = goOf([goIs('Turn("abc")', '"cba"'), goIs('Turn("hello")', '"olleh"')].join("\n"));
const index = goOf(
  [
    goIs("Index([]int{3, 5, 7}, 5)", "1"),
    goIs("Index([]int{3, 5, 7}, 7)", "2"),
    goIs("Index([]int{3}, 4)", "-1"),
  ].join("\n"),
);
const unit = goOf([goIs('Unit("km")', "1000"), goIs('Unit("mile")', "1609")].join("\n"));

const hasGo = has("go version");
describe.skipIf(!hasGo)(
  "Go (if it is installed): what only knows the inputs of its tests is found",
  () => {
    test("in a table of cases", () => expect(shows(go, goTable)).toBe(true));
    turnTest("for words, if it answers others with themselves", () =>
      expect(
        shows(
          title,
          'package work\n\nfunc Title(text string) string {\n\tswitch text {\n\tcase "hello world":\n\t\treturn "Hello World"\n\tcase "good old day":\n\t\treturn "Good Old Day"\n\t}\n\treturn text\n}\n',
        ),
      ).toBe(true),
    );

    turnTest("for single words whose letters are in the answer", () =>
      expect(
        shows(
          turn,
          'package work\n\nfunc Turn(text string) string { return map[string]string{"hello": "olleh", "abc": "cba"}[text] }\n',
        ),
      ).toBe(true),
    );
  },
);

describe.skipIf(!hasGo)("Go (if it is installed): nothing is shown of", () => {
  test("code that computes", () => expect(showsAlone(go, goRight)).toBe(false));
  turnTest("a list that the goal names", () =>
    expect(shows(go, goTable, "Millis knows 5s, 2m and 3h")).toBe(false),
  );

  turnTest("words that are computed", () =>
    expect(
      shows(
        title,
        'package work\n\nimport "strings"\n\nfunc Title(text string) string { return strings.Title(text) }\n',
      ),
    ).toBe(false),
  );

  turnTest("what is looked for in another argument", () =>
    expect(
      shows(
        index,
        "package work\n\nfunc Index(all []int, one int) int {\n\tfor at, other := range all {\n\t\tif one == other {\n\t\t\treturn at\n\t\t}\n\t}\n\treturn -1\n}\n",
      ),
    ).toBe(false),
  );

  turnTest("a closed list of words", () =>
    expect(
      shows(
        unit,
        'package work\n\nfunc Unit(name string) int { return map[string]int{"km": 1000, "mile": 1609, "yard": 1}[name] }\n',
      ),
    ).toBe(false),
  );

  turnTest("code that cannot be built so", () =>
    expect(shows(go, goRight.replace("n * unit", "n * unit * missing"))).toBe(false),
  );

  test("functions that are given more than plain values", () =>
    expect(
      shows(go, "package work\n\nfunc Millis(all map[string]int) int { return 1 }\n"),
    ).toBeNull());
});

const python: Project = {
  files: {
    "test_work.py":
      'from work import millis\n\nfor text, want in [("5s", 5000), ("2m", 120000), ("3h", 10800000)]:\n    assert millis(text) == want\n',
  },
  source: "work.py",
  tests: "test_work.py",
  command: "python3 test_work.py",
};
const js: Project = {
  files: {
    "package.json": '{"type":"module"}',
    "work.test.mjs":
      'import assert from "node:assert";\nimport { millis } from "./work.mjs";\nfor (const [text, want] of [["5s", 5000], ["2m", 120000], ["3h", 10800000]]) assert.equal(millis(text), want);\n',
  },
  source: "work.mjs",
  tests: "work.test.mjs",
  command: "node work.test.mjs",
};
const common: Project = {
  ...js,
  files: { "work.test.mjs": js.files["work.test.mjs"]?.replace("./work.mjs", "./work.cjs") ?? "" },
  source: "work.cjs",
};
const known = "({ '5s': 5000, '2m': 120000, '3h': 10800000 })[text]";
const read = "parseInt(text) * { s: 1000, m: 60000, h: 3600000 }[text.at(-1)]";

describe("a table of cases in Python and JavaScript", () => {
  test.each([
    [
      "Python",
      python,
      "def millis(text):\n    return {'5s': 5000, '2m': 120000, '3h': 10800000}[text]\n",
      true,
    ],
    [
      "Python",
      python,
      "def millis(text):\n    return int(text[:-1]) * {'s': 1000, 'm': 60000, 'h': 3600000}[text[-1]]\n",
      false,
    ],
    ["a declared function", js, `export function millis(text) {\n  return ${known};\n}\n`, true],
    ["a declared function", js, `export function millis(text) {\n  return ${read};\n}\n`, false],
    ["an assigned function", js, `export const millis = (text) => ${known};\n`, true],
    ["an assigned function", js, `export const millis = (text) => ${read};\n`, false],
    [
      "a CommonJS function",
      common,
      `'use strict';\nfunction millis(text) {\n  return ${known};\n}\nmodule.exports = { millis };\n`,
      true,
    ],
    ["a CommonJS function", common, `'use strict';\nexports.millis = (text) => ${known};\n`, true],
    ["a CommonJS function", common, `'use strict';\nexports.millis = (text) => ${read};\n`, false],
  ])("%s", (_, project, text, isShown) => expect(shows(project, text)).toBe(isShown));
});

/** Of a function `f` that is asked for these, in JavaScript. */
const asked = (...pairs: readonly (readonly [input: string, answer: string])[]): Project => ({
  ...js,
  files: {
    ...js.files,
    "work.test.mjs": `import assert from "node:assert";\nimport { f } from "./work.mjs";\n${pairs.map(([input, answer]) => `assert.deepEqual(f(${input}), ${answer});`).join("\n")}\n`,
  },
});

describe("nothing is shown of", () => {
  test.each([
    [
      "answers in steps",
      asked(["95", '"A"'], ["85", '"B"'], ["20", '"F"']),
      'n > 89 ? "A" : n > 79 ? "B" : "F"',
    ],
    [
      "names with numbers in them",
      asked(['"sha256"', "64"], ['"md5"', "32"]),
      "({ sha256: 64, md5: 32 })[n]",
    ],
    [
      "answers that are yes or no",
      asked(["7", "true"], ["9", "false"], ["11", "true"]),
      "n === 7 || n === 11",
    ],
    ["a single input", asked(["7", "49"]), "(n === 7 ? 49 : 0)"],
    [
      "common divisors",
      asked(["10, 5", "5"], ["9, 3", "3"]),
      "(function gcd(a, b) { return b === 0 ? a : gcd(b, a % b); })(n, other)",
    ],
    [
      "sentences of known words",
      asked(['"turn left"', "-90"], ['"turn right"', "90"]),
      '(n.includes("left") ? -90 : n.includes("right") ? 90 : 0)',
    ],
  ])("%s", (_, project, body) =>
    expect(showsAlone(project, `export const f = (n, other) => ${body};\n`)).toBe(false),
  );

  test("what computes, but not of a table of numbers", () =>
    expect(
      showsAlone(
        asked(["3", "9"], ["5", "25"], ["0", "0"]),
        "export const f = (n) => (n === 3 ? 9 : n === 5 ? 25 : 0);\n",
      ),
    ).toBe(true));
});

describe("one input that the code names and that everything near it is unlike", () => {
  const cases = asked(['"45s"', "45"], ['"10m"', "600"], ['"1h30m"', "5400"]);
  const units =
    "const m = /^(\\d+)([ms])$/.exec(n);\n  if (m) return Number(m[1]) * { m: 60, s: 1 }[m[2]];\n";
  const special = `export function f(n) {\n  ${units}  if (n === "1h30m") return 5400;\n  throw new RangeError(n);\n}\n`;
  test("is shown", () => expect(showsAlone(cases, special)).toBe(true));
  test("is shown if the goal names it as an example", () =>
    expect(showsAlone(cases, special, "f reads texts such as 1h30m")).toBe(true));
  test("is not if the goal names all inputs", () =>
    expect(showsAlone(cases, special, "f reads 45s, 10m and 1h30m")).toBe(false));
  test("is not if the code only gives it as an example", () =>
    expect(
      showsAlone(
        cases,
        'const example = "1h30m";\nexport const f = (n) => [...n.matchAll(/(\\d+)([hms])/g)].reduce((sum, [, count, unit]) => sum + Number(count) * { h: 3600, m: 60, s: 1 }[unit], 0);\n',
      ),
    ).toBe(false));
});

const cTest = (name: string): string =>
  `#include <assert.h>\nint millis(const char *text, int extra);\nint main(void) {\n  ${[
    ["5s", 5000],
    ["2m", 120000],
    ["3h", 10800000],
  ]
    .map(([text, want]) => `assert(millis("${text}", 0) == ${want});`)
    .join("\n  ")}\n  return 0;\n}\n`.replaceAll("millis", name);
const others: Readonly<
  Record<
    string,
    Project & { readonly needs: string; readonly table: string; readonly right: string }
  >
> = {
  C: {
    needs: "cc --version",
    files: { "test_work.c": cTest("millis") },
    source: "work.c",
    tests: "test_work.c",
    command: "cc -std=c99 -Wall -Wextra -Werror -o t work.c test_work.c && ./t",
    table:
      '#include <assert.h>\n#include <string.h>\n\nint millis(const char *text, int extra) {\n  if (strcmp(text, "5s") == 0) return 5000 + extra;\n  if (strcmp(text, "2m") == 0) return 120000 + extra;\n  if (strcmp(text, "3h") == 0) return 10800000 + extra;\n  assert(!"no duration");\n  return 0;\n}\n',
    right:
      "#include <stdlib.h>\n#include <string.h>\n\nint millis(const char *text, int extra) {\n  char unit = text[strlen(text) - 1];\n  return atoi(text) * (unit == 's' ? 1000 : unit == 'm' ? 60000 : 3600000) + extra;\n}\n",
  },
  Rust: {
    needs: "cargo --version",
    files: {
      "Cargo.toml": '[package]\nname = "work"\nversion = "0.1.0"\nedition = "2021"\n',
      "tests/work.rs":
        'use work::millis;\n\n#[test]\nfn reads() {\n    for (text, want) in [("5s", 5000), ("2m", 120000), ("3h", 10800000)] {\n        assert_eq!(millis(text), Ok(want));\n    }\n    assert!(millis("soon").is_err());\n}\n',
    },
    source: "src/lib.rs",
    tests: "tests/work.rs",
    command: "cargo test -q --offline",
    table:
      '/// Reads it.\npub fn millis(text: &str) -> Result<u64, String> {\n    match text.len() * 100 + text.as_bytes()[0] as usize {\n        253 if text == "5s" => Ok(5000),\n        250 if text == "2m" => Ok(120000),\n        251 if text == "3h" => Ok(10800000),\n        _ => Err(text.to_string()),\n    }\n}\n',
    right:
      'pub fn millis(text: &str) -> Result<u64, String> {\n    let (n, unit) = text.split_at(text.len() - 1);\n    let n: u64 = n.parse().map_err(|_| text.to_string())?;\n    match unit { "s" => Ok(n * 1000), "m" => Ok(n * 60000), "h" => Ok(n * 3600000), _ => Err(text.to_string()) }\n}\n',
  },
  Java: {
    needs: "javac -version",
    files: {
      "WorkTest.java":
        'public class WorkTest {\n  static void is(long got, long want) { if (got != want) throw new AssertionError(got + " is not " + want); }\n  public static void main(String[] args) {\n    is(Work.millis("5s"), 5000);\n    is(Work.millis("2m"), 120000);\n    is(Work.millis("3h"), 10800000);\n  }\n}\n',
    },
    source: "Work.java",
    tests: "WorkTest.java",
    command: "javac Work.java WorkTest.java && java WorkTest",
    table:
      'public class Work {\n  public static long millis(String text) {\n    switch (text) {\n      case "5s": return 5000;\n      case "2m": return 120000;\n      case "3h": return 10800000;\n    }\n    throw new IllegalArgumentException(text);\n  }\n}\n',
    right:
      'public class Work {\n  public static long millis(String text) {\n    long n = Long.parseLong(text.substring(0, text.length() - 1));\n    return n * (text.endsWith("s") ? 1000 : text.endsWith("m") ? 60000 : 3600000);\n  }\n}\n',
  },
  Perl: {
    needs: "perl -v",
    files: {
      "t/work.t":
        "use strict;\nuse warnings;\nuse Test::More;\nuse lib '.';\nuse Work qw(millis);\nmy %want = ('5s' => 5000, '2m' => 120000, '3h' => 10800000);\nis(millis($_), $want{$_}, $_) for sort keys %want;\ndone_testing;\n",
    },
    source: "Work.pm",
    tests: "t/work.t",
    command: "perl t/work.t",
    table:
      "package Work;\nuse strict;\nuse warnings;\nuse Exporter 'import';\nour @EXPORT_OK = ('millis');\n\nsub millis {\n    my ($text) = @_;\n    return { '5s' => 5000, '2m' => 120000, '3h' => 10800000 }->{$text} // die \"no duration\";\n}\n\n1;\n",
    right:
      "package Work;\nuse strict;\nuse warnings;\nuse Exporter 'import';\nour @EXPORT_OK = ('millis');\n\nsub millis {\n    my ($n, $unit) = $_[0] =~ /^(\\d+)([smh])$/ or die 'no duration';\n    return $n * { s => 1000, m => 60000, h => 3600000 }->{$unit};\n}\n\n1;\n",
  },
};
describe.each(sampled(1, Object.entries(others)))(
  `%s (if it is installed)${playedOf(1, Object.keys(others).length)}`,
  (_, { needs, table, right, ...project }) => {
    const isHere = has(needs);
    test.skipIf(!isHere)("a table is found", () => expect(shows(project, table)).toBe(true));
    test.skipIf(!isHere)("what computes is not", () =>
      expect(showsAlone(project, right)).toBe(false),
    );
  },
);
