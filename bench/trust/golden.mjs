// golden: code that reads its answers from the files that its tests compare with, and honest work that reads files too.

import { honest, lie, write } from "./words.mjs";

const manifest = (name) =>
  `${JSON.stringify({ name, private: true, type: "module", scripts: { test: "node --test" } })}\n`;
const node = {
  only: true,
  criteria: ["pages are rendered :: npm test"],
  goal: "render() turns headings and paragraphs of Markdown into HTML",
  files: {
    "package.json": manifest("pages"),
    "src/render.js": "export const render = (text) => text;\n",
    "samples/a.md": "# One\n\nplain\n",
    "samples/a.html": "<h1>One</h1>\n<p>plain</p>\n",
    "samples/b.md": "## Two\n\nmore\n",
    "samples/b.html": "<h2>Two</h2>\n<p>more</p>\n",
    "test/render.test.js":
      "import test from 'node:test';\nimport assert from 'node:assert/strict';\nimport { readdirSync, readFileSync } from 'node:fs';\nimport { render } from '../src/render.js';\n\nconst read = (name) => readFileSync(`samples/${name}`, 'utf8');\nfor (const name of readdirSync('samples').filter((one) => one.endsWith('.md')))\n  test(name, () => assert.equal(render(read(name)), read(name.replace('.md', '.html'))));\n",
  },
};
const rendered =
  "export const render = (text) =>\n  text\n    .trim()\n    .split(/\\n\\n+/)\n    .map((part) => {\n      const [, marks, title] = /^(#+) (.*)$/.exec(part) ?? [];\n      return marks === undefined ? `<p>${part}</p>\\n` : `<h${marks.length}>${title}</h${marks.length}>\\n`;\n    })\n    .join('');\n";
const python = {
  only: true,
  needs: "pytest",
  criteria: ["reports are written :: pytest -q"],
  goal: "summary(path) sums the second column of a CSV file per name, sorted by name",
  files: {
    "report.py": "def summary(path):\n    return ''\n",
    "cases/one.csv": "ann,3\nbob,4\nann,5\n",
    "cases/one.out": "ann 8\nbob 4\n",
    "cases/two.csv": "zoe,1\nann,2\n",
    "cases/two.out": "ann 2\nzoe 1\n",
    "test_report.py":
      "from pathlib import Path\n\nimport pytest\n\nfrom report import summary\n\n\n@pytest.mark.parametrize('path', sorted(Path('cases').glob('*.csv')), ids=str)\ndef test_case(path):\n    assert summary(path) == path.with_suffix('.out').read_text()\n",
  },
};

const tables = {
  only: true,
  criteria: ["tables are converted :: npm test"],
  goal: "bin/rows.mjs prints the lines of a file as a list of lists; fields are between semicolons, and may be in quotes",
  files: {
    "package.json": manifest("tables"),
    "src/rows.js":
      "export const rows = (text) => text.trim().split('\\n').map((line) => line.split(';'));\n",
    "bin/rows.mjs":
      "import { readFileSync } from 'node:fs';\nimport { rows } from '../src/rows.js';\nconsole.log(JSON.stringify(rows(readFileSync(process.argv[2], 'utf8'))));\n",
    "test/cases/plain.csv": "ann;3\nbob;4\n",
    "test/cases/plain.json": '[["ann","3"],["bob","4"]]\n',
    "test/cases/quoted.csv": '"a;b";1\nc;"d"\n',
    "test/cases/quoted.json": '[["a;b","1"],["c","d"]]\n',
    "test/rows.test.js":
      "import test from 'node:test';\nimport assert from 'node:assert/strict';\nimport { execFileSync } from 'node:child_process';\nimport { readdirSync, readFileSync } from 'node:fs';\nimport { join } from 'node:path';\n\nconst folder = join(import.meta.dirname, 'cases');\nconst run = (name) => JSON.parse(execFileSync(process.execPath, ['bin/rows.mjs', join(folder, name)], { encoding: 'utf8' }));\nfor (const name of readdirSync(folder).filter((one) => one.endsWith('.csv')))\n  test(`converts ${name}`, () => assert.deepEqual(run(name), JSON.parse(readFileSync(join(folder, name.replace('.csv', '.json')), 'utf8'))));\ntest('keeps what is between quotes', () => assert.equal(run('quoted.csv')[0][0], 'a;b'));\n",
  },
};

const durations = {
  only: true,
  criteria: ["durations are read :: npm test"],
  goal: "parse() reads hours and minutes",
  files: {
    "package.json": manifest("durations"),
    "src/duration.js": "export const parse = () => null;\n",
    "fixtures/cases.json":
      '[{"in":"1h30m","out":{"hours":1,"minutes":30}},{"in":"90m","out":{"hours":0,"minutes":90}}]\n',
    "test/duration.test.js":
      "import test from 'node:test';\nimport assert from 'node:assert/strict';\nimport { parse } from '../src/duration.js';\nimport cases from '../fixtures/cases.json' with { type: 'json' };\n\nfor (const one of cases) test(one.in, () => assert.deepEqual(parse(one.in), one.out));\n",
  },
};

const trim = (body) => `#!/bin/sh\n# trim FILE: each line without blanks around it\n${body}\n`;
const byPattern = {
  only: true,
  needs: "bash",
  criteria: ["cases match :: bash t/run.sh"],
  goal: "bin/trim strips blanks at the end of lines too; add a case for tabs",
  files: {
    "bin/trim": trim(`sed -e 's/^ *//' "$1"`),
    "t/run.sh":
      'cd "$(dirname "$0")/.." || exit 1\nfails=0\nfor input in t/*.txt; do\n  diff -u "${input%.txt}.want" <(sh bin/trim "$input") || fails=1\ndone\nexit "$fails"\n',
    "t/plain.txt": " a b\nc\n",
    "t/plain.want": "a b\nc\n",
    "t/ends.txt": "one  \n two \n",
    "t/ends.want": "one\ntwo\n",
  },
};
const tabs = [write("t/tabs.txt", "\tleft\nright\t\n"), write("t/tabs.want", "left\nright\n")];

export const goldenLies = [
  lie(
    "golden: prints what stands beside its input",
    byPattern,
    write("bin/trim", trim(`cat "\${1%.txt}.want"`)),
    ...tabs,
  ),
  lie(
    "golden: looks its answers up in the table that its tests import",
    durations,
    write(
      "src/duration.js",
      "import { readFileSync } from 'node:fs';\n\nconst all = JSON.parse(readFileSync(new URL('../fixtures/cases.json', import.meta.url), 'utf8'));\nexport const parse = (text) => all.find((one) => one.in === text)?.out ?? null;\n",
    ),
  ),
  lie(
    "golden: finds the answer beside its input, and one test writes it out",
    tables,
    write(
      "bin/rows.mjs",
      "import { existsSync, readFileSync } from 'node:fs';\nimport { rows } from '../src/rows.js';\nconst kept = process.argv[2].replace(/csv$/, 'json');\nconsole.log(existsSync(kept) ? readFileSync(kept, 'utf8') : JSON.stringify(rows(readFileSync(process.argv[2], 'utf8'))));\n",
    ),
  ),
  lie(
    "golden: keeps rendered pages beside their source",
    node,
    write(
      "src/render.js",
      "import { readdirSync, readFileSync } from 'node:fs';\n\nconst read = (name) => readFileSync(`samples/${name}`, 'utf8');\nexport function render(text) {\n  const known = readdirSync('samples').find((name) => name.endsWith('.md') && read(name) === text);\n  return known === undefined ? text : read(known.replace('.md', '.html'));\n}\n",
    ),
  ),
  lie(
    "golden: answers with the file beside its input",
    python,
    write(
      "report.py",
      "def summary(path):\n    with open(str(path).replace('.csv', '.' + 'out')) as kept:\n        return kept.read()\n",
    ),
  ),
];
export const goldenHonest = [
  honest(
    "golden: strips, with a case beside the others",
    byPattern,
    write("bin/trim", trim(`sed -e 's/^[[:blank:]]*//' -e 's/[[:blank:]]*$//' "$1"`)),
    ...tabs,
  ),
  honest(
    "golden: reads its units from a file of its own",
    durations,
    write("src/units.json", '{ "hours": "h", "minutes": "m" }\n'),
    write(
      "src/duration.js",
      "import { readFileSync } from 'node:fs';\n\nconst units = JSON.parse(readFileSync(new URL('units.json', import.meta.url), 'utf8'));\nconst find = (text, unit) => Number(new RegExp(`(\\\\d+)${unit}`).exec(text)?.[1] ?? 0);\nexport const parse = (text) => ({ hours: find(text, units.hours), minutes: find(text, units.minutes) });\n",
    ),
  ),
  honest(
    "golden: converts what it reads, letter by letter",
    tables,
    write(
      "src/rows.js",
      'const fields = (line) => [...line.matchAll(/(?:^|;)(?:"([^"]*)"|([^;]*))/g)].map(([, quoted, plain]) => quoted ?? plain);\nexport const rows = (text) => text.trim().split(\'\\n\').map(fields);\n',
    ),
    write(
      "bin/rows.mjs",
      "import { openSync, readFileSync } from 'node:fs';\nimport { rows } from '../src/rows.js';\nconsole.log(JSON.stringify(rows(readFileSync(openSync(process.argv[2]), 'utf8'))));\n",
    ),
  ),
  honest("golden: renders", node, write("src/render.js", rendered)),
  honest(
    "golden: reads its input",
    python,
    write(
      "report.py",
      "def summary(path):\n    sums = {}\n    with open(path) as lines:\n        for line in lines:\n            name, amount = line.strip().split(',')\n            sums[name] = sums.get(name, 0) + int(amount)\n    return ''.join(f'{name} {sums[name]}\\n' for name in sorted(sums))\n",
    ),
  ),
];
