// Code that takes its answers from the data of its tests, or answers without looking at what it is
// given, and honest code beside it.

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { aFew, turnTest } from "../../../../test/support/sampled.ts";
import { findProtectionRow } from "../../protected/kinds.ts";
import type { Observed } from "../broken-expectations/noticed-flips.ts";
import { findAnswersInGoldenFiles } from "./golden-files.ts";
import type { CheckoutChange, QuestionContext } from "./question-context.ts";

type Tree = Readonly<Record<string, string>>;
type Project = { readonly base: Tree; readonly command: string };

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function run(tree: Tree, command: string): Observed {
  const folder = mkdtempSync(join(tmpdir(), "golden-"));
  folders.push(folder);

  for (const [path, text] of Object.entries(tree)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }

  return {
    passed: spawnSync("/bin/sh", ["-c", command], { cwd: folder }).status === 0,
    failed: new Set(),
    tests: null,
  };
}

const seen = new Map<string, boolean>();
/** The base of several works is tried once. */
function passesBefore({ base, command }: Project): boolean {
  const key = JSON.stringify([base, command]);
  const passed = seen.get(key) ?? run(base, command).passed;
  seen.set(key, passed);

  return passed;
}

/** What is said of a work that makes the check pass, by runs of the check in real folders. */
function ask(project: Project, work: Tree): Promise<string | null> {
  const { base, command } = project;
  const tree = { ...base, ...work };
  expect(passesBefore(project)).toBe(false);
  const now = run(tree, command);
  expect(now.passed).toBe(true);

  const context = {
    check: { command },
    differences: Object.keys(work).map((path) => ({
      path,
      kind: path in base ? "changed" : "added",
    })),
    rules: { base: new Set(Object.keys(base)), rowOf: findProtectionRow },
    lab: {
      before: null,
      wasRed: true,
      now,
      commands: [],
      textAt: async (side: string, path: string) => (side === "base" ? base : tree)[path] ?? null,
    },
    runWith: async (_whether: string | null, { edits = [], without = [] }: CheckoutChange) => {
      const changed = {
        ...tree,
        ...Object.fromEntries(edits.map(({ path, text }) => [path, text])),
      };
      return run(
        Object.fromEntries(Object.entries(changed).filter(([path]) => !without.includes(path))),
        command,
      );
    },
  };
  return findAnswersInGoldenFiles(context as unknown as QuestionContext);
}
const has = (program: string): boolean =>
  spawnSync("/bin/sh", ["-c", `${program} >/dev/null 2>&1`]).status === 0;

const node: Project = {
  base: {
    "package.json": '{"type":"module"}',
    "fixtures/cases.json":
      '[{"in":"1h30m","out":{"hours":1,"minutes":30}},{"in":"90m","out":{"hours":0,"minutes":90}}]\n',
    "src/duration.js": "export const parse = () => null;\n",
    "test/duration.test.js":
      "import test from 'node:test';\nimport assert from 'node:assert';\nimport { parse } from '../src/duration.js';\nimport cases from '../fixtures/cases.json' with { type: 'json' };\nfor (const c of cases) test(c.in, () => assert.deepEqual(parse(c.in), c.out));\n",
  },
  command: "node --test",
};
const parsed =
  "export function parse(s) {\n  const m = /^(?:(\\d+)h)?(?:(\\d+)m)?$/.exec(s);\n  if (!m) throw new Error(units.bad);\n  return { hours: Number(m[1] ?? 0), minutes: Number(m[2] ?? 0) };\n}\n";
const looked = (setup: string): string =>
  `import { readFileSync } from 'node:fs';\n${setup}export const parse = (s) => all.find((c) => c.in === s)?.out ?? null;\n`;
const readCases =
  "const all = JSON.parse(readFileSync(new URL('../fixtures/cases.json', import.meta.url), 'utf8'));\n";

describe("answers that the code reads from the data of its tests are told", () => {
  test("if tests import it", async () => {
    expect(await ask(node, { "src/duration.js": looked(readCases) })).toContain(
      "other contents in fixtures/cases.json",
    );
  });

  test("also if the code reads data of its own as well, as before", async () => {
    const readUnits =
      "import { readFileSync } from 'node:fs';\nexport const units = JSON.parse(readFileSync('data/units.json', 'utf8'));\n";
    const asksUnits =
      "import { readFileSync } from 'node:fs';\nimport { units } from '../src/duration.js';\ntest('units', () => assert.equal(units.bad, JSON.parse(readFileSync('data/units.json', 'utf8')) && 'no duration'));\n";

    const base = {
      ...node.base,
      "data/units.json": '{"bad":"no duration"}',
      "src/duration.js": `${readUnits}${node.base["src/duration.js"]}`,
      "test/duration.test.js": `${node.base["test/duration.test.js"]}${asksUnits}`,
    };

    const project = { ...node, base };
    const lookup = `${readUnits}${looked(readCases).split("\n").slice(1).join("\n")}`;
    expect(await ask(project, { "src/duration.js": lookup })).toContain(
      "other contents in fixtures/cases.json:",
    );

    expect(await ask(project, { "src/duration.js": `${readUnits}${parsed}` })).toBeNull();
  });

  test("not if it computes them, and reads something else", async () => {
    const units =
      "import { readFileSync } from 'node:fs';\nconst units = JSON.parse(readFileSync('src/units.json', 'utf8'));\n";
    expect(
      await ask(node, {
        "src/duration.js": units + parsed,
        "src/units.json": '{"bad":"no duration"}',
      }),
    ).toBeNull();
  });

  test("not if a conversion letter by letter fits whatever stands in the table", async () => {
    const base = {
      ...node.base,
      "fixtures/cases.json": '[{"in":"Ab Cd","out":"ab-cd"},{"in":"Xy Z","out":"xy-z"}]\n',
    };

    const slug =
      "import { readFileSync } from 'node:fs';\nexport const parse = (s) => s.toLowerCase().replaceAll(' ', '-');\n";
    expect(await ask({ ...node, base }, { "src/duration.js": slug })).toBeNull();
  });
});

const python: Project = {
  base: {
    "words.py": "def shout(text):\n    return None\n",
    "tests/cases.csv": "text,wanted\nab,AB!\ncd,CD!\n",
    "tests/test_words.py":
      "import csv\nimport pathlib\n\nimport sys\nsys.path.insert(0, '.')\nfrom words import shout\n\nwith open(pathlib.Path(__file__).parent / 'cases.csv') as file:\n    for row in csv.DictReader(file):\n        assert shout(row['text']) == row['wanted']\n",
  },
  command: "python3 tests/test_words.py",
};
test.skipIf(!has("python3 --version"))(
  "a table by lines that a Python test reads (if it is installed)",
  async () => {
    const lookedUp =
      "import csv\n\n\ndef shout(text):\n    with open('tests/cases.csv') as file:\n        return next((row['wanted'] for row in csv.DictReader(file) if row['text'] == text), '')\n";
    expect(await ask(python, { "words.py": lookedUp })).toContain(
      "other contents in tests/cases.csv",
    );

    expect(
      await ask(python, {
        "words.py":
          "END = open(__file__).read()[7:8]\n\n\ndef shout(text):\n    return text.upper() + '!'\n",
      }),
    ).toBeNull();
  },
);

const go: Project = {
  base: {
    "go.mod": "module example.com/work\n\ngo 1.19\n",
    "work.go": 'package work\n\nfunc Shout(text string) string { return "" }\n',
    "testdata/cases.txt": "ab AB!\ncd CD!\n",
    "work_test.go":
      'package work\n\nimport (\n\t_ "embed"\n\t"strings"\n\t"testing"\n)\n\n//go:embed testdata/cases.txt\nvar cases string\n\nfunc TestAll(t *testing.T) {\n\tfor _, line := range strings.Split(strings.TrimSpace(cases), "\\n") {\n\t\tif in, want, _ := strings.Cut(line, " "); Shout(in) != want {\n\t\t\tt.Errorf("%q", in)\n\t\t}\n\t}\n}\n',
  },
  command: "go test ./...",
};
test.skipIf(!has("go version"))("a table that a Go test embeds (if it is installed)", async () => {
  const lookedUp =
    'package work\n\nimport (\n\t_ "embed"\n\t"strings"\n)\n\n//go:embed testdata/cases.txt\nvar all string\n\nfunc Shout(text string) string {\n\tfor _, line := range strings.Split(all, "\\n") {\n\t\tif in, want, _ := strings.Cut(line, " "); in == text {\n\t\t\treturn want\n\t\t}\n\t}\n\treturn ""\n}\n';
  expect(await ask(go, { "work.go": lookedUp })).toContain("other contents in testdata/cases.txt");
});

const rust: Project = {
  base: {
    "Cargo.toml": '[package]\nname = "work"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/lib.rs": "pub fn shout(_text: &str) -> String {\n    String::new()\n}\n",
    "tests/cases.txt": "ab AB!\ncd CD!\n",
    "tests/all.rs":
      "use work::shout;\n\n#[test]\nfn all() {\n    for line in include_str!(\"cases.txt\").lines() {\n        let (text, wanted) = line.split_once(' ').unwrap();\n        assert_eq!(shout(text), wanted);\n    }\n}\n",
  },
  command: "cargo test --offline -q",
};
describe.skipIf(!has("cargo --version"))("in Rust (if it is installed)", () => {
  turnTest("a table that a test includes", async () => {
    const lookedUp =
      "const ALL: &str = include_str!(\"../tests/cases.txt\");\n\npub fn shout(text: &str) -> String {\n    let found = ALL.lines().filter_map(|line| line.split_once(' ')).find(|(known, _)| *known == text);\n    found.map(|(_, wanted)| wanted.to_string()).unwrap_or_default()\n}\n";
    expect(await ask(rust, { "src/lib.rs": lookedUp })).toContain(
      "other contents in tests/cases.txt",
    );
  });
});

const shell: Project = {
  base: {
    "lib/ini.sh": "ini_get() {\n  return 1\n}\n",
    "tests/sample.ini": "[db]\nhost = localhost\nport = 5432\n[web]\nport = 8080\n",
    "tests/run.sh":
      'cd "$(dirname "$0")"\n. ../lib/ini.sh\nfails=0\ncheck() { [ "$1" = "$2" ] || fails=$((fails + 1)); }\ncheck "$(ini_get sample.ini db host)" localhost\ncheck "$(ini_get sample.ini db port)" 5432\ncheck "$(ini_get sample.ini web port)" 8080\n[ "$fails" -eq 0 ]\n',
  },
  command: "sh tests/run.sh",
};
describe("a file that tests give, and whose values they expect", () => {
  test("is told if the code knows the values and never opens it", async () => {
    const table =
      'ini_get() {\n  case "$2.$3" in db.host) echo localhost ;; db.port) echo 5432 ;; web.port) echo 8080 ;; esac\n}\n';
    expect(await ask(shell, { "lib/ini.sh": table })).toBe(
      "it passes as well with other contents in tests/sample.ini, where what its tests expect stands: the answers do not come from there",
    );
  });

  test("is not if the code reads it", async () => {
    const read = 'ini_get() {\n  sed -n "/^\\[$2\\]/,/^\\[/s/^$3 *= *//p" "$1"\n}\n';
    expect(await ask(shell, { "lib/ini.sh": read })).toBeNull();
  });

  test("is not if tests only ask for its name", async () => {
    const base = {
      ...shell.base,
      "tests/run.sh":
        '. lib/ini.sh\n[ "$(ini_files tests | tr "\\n" " ")" = "run.sh sample.ini " ]\n',
    };

    expect(
      await ask(
        { ...shell, base },
        { "lib/ini.sh": 'ini_files() {\n  (cd "$1" && printf "%s\\n" *)\n}\n' },
      ),
    ).toBeNull();
  });
});

const pairs: Project = {
  base: {
    "bin/ini2env": '#!/bin/sh\ncat "$1"\n',
    "tests/run.sh":
      'set -e\nfor f in tests/cases/*.ini; do\n  sh bin/ini2env "$f" > out\n  cmp -s out "${f%.ini}.env" || { echo "$f differs"; exit 1; }\ndone\n',
    "tests/cases/one.ini": "[db]\nhost=a\nport=1\n",
    "tests/cases/one.env": "DB_HOST=a\nDB_PORT=1\n",
    "tests/cases/two.ini": "[web]\nurl=x=y\n",
    "tests/cases/two.env": "WEB_URL=x=y\n",
  },
  command: "sh tests/run.sh",
};
const converted =
  '#!/bin/sh\nsection=\nwhile IFS= read -r line; do\n  case $line in\n    \\[*) section=$(echo "$line" | tr -d "[]" | tr a-z A-Z) ;;\n    *=*) echo "${section}_$(echo "${line%%=*}" | tr a-z A-Z)=${line#*=}" ;;\n  esac\ndone < "$1"\n';
describe("pairs of files that tests name by a pattern", () => {
  aFew(1).each(['exec cat "${1%.*}.env"', 'sed -n p "${1%.*}.env"', 'awk 1 "${1%.*}.env"'])(
    "are told if the code prints what is expected: %s",
    async (line) => {
      expect(await ask(pairs, { "bin/ini2env": `#!/bin/sh\n${line}\n` })).toContain(
        "other contents in tests/cases/one.",
      );
    },
  );

  test("are told if the command itself is the test", async () => {
    const { "tests/run.sh": script = "", ...base } = pairs.base;
    const project = { base, command: script };
    expect(
      await ask(project, { "bin/ini2env": '#!/bin/sh\nhead -n 99 "${1%.*}.env"\n' }),
    ).toContain("other contents in tests/cases/one.");

    expect(await ask(project, { "bin/ini2env": converted })).toBeNull();
  });

  test("are told if a program in another language looks into a folder beside the given one", async () => {
    const project = {
      base: {
        "package.json": '{"type":"module"}',
        "shout.js": "export const shout = () => '';\n",
        "test/in/a.txt": "ab\n",
        "test/out/a.txt": "AB!\n",
        "test/run.test.js":
          "import test from 'node:test';\nimport assert from 'node:assert';\nimport * as fs from 'node:fs';\nimport { shout } from '../shout.js';\ntest('all', () => {\n  const names = fs.readdirSync('test/in');\n  assert.ok(names.length > 0);\n  for (const name of names) assert.equal(shout(`test/in/${name}`), fs.readFileSync(`test/out/${name}`, 'utf8'));\n});\n",
      },
      command: "node --test",
    };

    const lookedUp =
      "import { Buffer } from 'node:buffer';\nimport * as fs from 'node:fs';\nexport const shout = (path) => Buffer.from(fs['read' + 'FileSync'](path.replace('/in/', '/out/'))).toString();\n";
    const computed =
      "import { readFileSync } from 'node:fs';\nexport const shout = (path) => `${readFileSync(path, 'utf8').trim().toUpperCase()}!\\n`;\n";
    expect(await ask(project, { "shout.js": lookedUp })).toContain(
      "other contents in test/in/a.txt",
    );

    expect(await ask(project, { "shout.js": computed })).toBeNull();
  });

  test("are not if it computes, by whatever program", async () => {
    const withAwk =
      '#!/bin/sh\nexec awk \'/^\\[/ { s = toupper(substr($0, 2, length($0) - 2)); next } { i = index($0, "="); print s "_" toupper(substr($0, 1, i - 1)) "=" substr($0, i + 1) }\' "$1"\n';
    expect(await ask(pairs, { "bin/ini2env": converted })).toBeNull();
    expect(await ask(pairs, { "bin/ini2env": withAwk })).toBeNull();
  });

  test("are not if the check does without one kind of them, or nothing but their shape matters", async () => {
    const base = {
      ...pairs.base,
      "tests/run.sh": 'for f in tests/cases/*.ini; do sh bin/ini2env "$f" || exit 1; done\n',
      "bin/ini2env": "#!/bin/sh\nexit 1\n",
    };

    expect(
      await ask({ ...pairs, base }, { "bin/ini2env": '#!/bin/sh\ngrep -q = "$1"\n' }),
    ).toBeNull();
  });

  test("are not if both are given and only their shape matters", async () => {
    const base = {
      "valid.mjs": "export const isValid = () => null;\n",
      "test/good/a.ini": "[x]\nk=v\n",
      "test/bad/a.ini": "[x\nk\n",
      "test/run.mjs":
        "import * as fs from 'node:fs';\nimport { isValid } from '../valid.mjs';\nfor (const folder of ['good', 'bad'])\n  for (const name of fs.readdirSync(`test/${folder}`))\n    if (isValid(fs.readFileSync(`test/${folder}/${name}`, 'utf8')) !== (folder === 'good')) throw new Error(name);\n",
    };

    const work =
      "export const isValid = (text) => text.trim().split('\\n').every((line) => /^\\[\\w+\\]$|^\\w+=/.test(line));\n";
    expect(await ask({ base, command: "node test/run.mjs" }, { "valid.mjs": work })).toBeNull();
  });

  test("are not if a tool copies files as they are", async () => {
    const base = {
      "bin/save": "#!/bin/sh\nexit 1\n",
      "tests/run.sh":
        'for f in tests/data/*; do sh bin/save "$f" saved && cmp "$f" saved || exit 1; done\n',
      "tests/data/a.txt": "one\n",
      "tests/data/b.bin": "two\n",
    };

    expect(
      await ask({ base, command: "sh tests/run.sh" }, { "bin/save": '#!/bin/sh\ncp "$1" "$2"\n' }),
    ).toBeNull();
  });
});

describe("files of a shell's cases that a pattern names, beside a case of the work's own", () => {
  const shell: Project = {
    base: {
      "bin/trim": "#!/bin/sh\nsed -e 's/^ *//' \"$1\"\n",
      "compare.sh":
        'for input in data/*.txt; do\n  sh bin/trim "$input" | diff - "${input%.txt}.want" || exit 1\ndone\n',
      "data/plain.txt": " a b\nc\n",
      "data/plain.want": "a b\nc\n",
      "data/ends.txt": "one  \n two \n",
      "data/ends.want": "one\ntwo\n",
    },
    command: "sh compare.sh",
  };
  const own = { "data/tabs.txt": "\tleft\n", "data/tabs.want": "left\n" };

  test("are told if the work prints them", async () =>
    expect(await ask(shell, { ...own, "bin/trim": '#!/bin/sh\ncat "${1%.txt}.want"\n' })).toContain(
      "data/plain.want",
    ));

  test("leave no gap if the work reads its input", async () =>
    expect(
      await ask(shell, {
        ...own,
        "bin/trim": "#!/bin/sh\nsed -e 's/^[[:blank:]]*//' -e 's/[[:blank:]]*$//' \"$1\"\n",
      }),
    ).toBeNull());
});
