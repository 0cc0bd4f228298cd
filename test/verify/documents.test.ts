// Documents that quote outputs, criteria that only look, and experiments without their
// dependencies, on two real trees.

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Check, CheckResult } from "../../src/contracts/evidence.ts";
import type { VerifierParts } from "../../src/verify/verifier.ts";
import { sampled } from "../support/sampled.ts";
import { type Tree, tryOnTrees } from "./two-trees.ts";

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "documents-"));
  vi.stubEnv("PATH", `${resolve(import.meta.dirname, "../support/bin")}:${process.env["PATH"]}`); // another npm, which starts no Node
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true, force: true });
});

type Given = {
  readonly before: Tree;
  readonly change: Tree;
  readonly commands: readonly string[];
  readonly goal?: string;
};

function tried(
  { before, change, commands, goal = "" }: Given,
  parts: Partial<VerifierParts> = {},
): Promise<readonly CheckResult[]> {
  const checks = commands.map((command, index): Check => {
    return {
      id: `criterion:c${index + 1}`,
      kind: "criterion",
      title: command,
      command,
      source: "objective",
    };
  });

  return tryOnTrees({ root, blobs: new Map(), before, change, parts, goal }, checks);
}
const gapsOf = (results: readonly CheckResult[]): readonly string[] =>
  results.flatMap(({ gap, without_work }) => [
    ...(gap === undefined ? [] : [gap]),
    ...(without_work?.outcome === "missed" ? [without_work.detail] : []),
  ]);

describe("a document that quotes what a command prints", () => {
  const before: Tree = {
    "package.json": '{"name":"bench","scripts":{"bench":"node bench.mjs"}}\n',
    "bench.mjs":
      "console.log('checksum ' + 6 * 7);\nconsole.log('took ' + process.hrtime.bigint() % 97n + ' ms');\n",
    "src/mean.mjs":
      "export const mean = (list) => list.reduce((a, b) => a + b, 0) / list.length;\nexport const seed = () => process.hrtime.bigint().toString();\n",
    "todo.mjs":
      "import { appendFileSync, readFileSync } from 'node:fs';\nconst [, , act, text] = process.argv;\nif (act === 'add') appendFileSync('list', text + '\\n');\nelse if (act === 'list') console.log(readFileSync('list', 'utf8').trim());\nelse process.exit(2);\n",
  };

  const quote = async (text: string, goal?: string) =>
    gapsOf(
      await tried({
        before,
        change: { "docs/BENCH.md": text },
        commands: ["grep -q checksum docs/BENCH.md"],
        ...(goal === undefined ? {} : { goal }),
      }),
    );

  test("is told if the command prints something else", async () => {
    expect(
      await quote(
        "# Bench\n\n```console\n$ npm install\n$ node bench.mjs\nchecksum 99\ntook 3 ms\n```\n",
      ),
    ).toEqual([
      "docs/BENCH.md quotes an output of `node bench.mjs` that it does not print (checksum 99)",
    ]);
  });

  test("is told if the goal names the command and the document lacks its output", async () => {
    const goal = "docs/BENCH.md contains the output of `node bench.mjs`, as run";
    expect(await quote("```\nchecksum 99\n```\n", goal)).toEqual([
      "docs/BENCH.md does not hold what `node bench.mjs` prints (checksum 42)",
    ]);

    expect(await quote("```\nchecksum 42\ntook 5 ms\n```\n", goal)).toEqual([]);
    const toRun =
      "Run `node bench.mjs` and write docs/BENCH.md with its complete output in a fenced block";
    expect(await quote("```\nchecksum 99\n```\n", toRun)).toHaveLength(1);
    expect(await quote("```\nchecksum 42\ntook 5 ms\n```\n", toRun)).toEqual([]);
    const change = {
      "docs/BENCH.md": "```\nchecksum 42\ntook 5 ms\n```\n",
      "bench.mjs": "console.log('checksum 43');\n",
    };

    expect(
      gapsOf(
        await tried({ before, change, commands: ["grep -q checksum docs/BENCH.md"], goal: toRun }),
      ),
    ).toEqual([]);
  });

  test("is told if a one-liner about the project prints something else", async () => {
    const session = (mean: string): string =>
      `\`\`\`\n$ node -e "import('./src/mean.mjs').then((m) => console.log(m.mean([])))"\n${mean}\n\`\`\`\nchecksum\n`;
    expect(await quote(session("0"))).toEqual([
      expect.stringMatching(
        /^docs\/BENCH.md quotes an output of `node -e .* does not print \(0\)$/,
      ),
    ]);

    expect(await quote(session("NaN"))).toEqual([]);
  });

  test("is told if an example says what its function does not answer, twice, and did not answer before", async () => {
    const example = (mean: string): string =>
      `\`\`\`js\nmean([1, 2, 7]) // => ${mean}\nseed() // => "7"\n\`\`\`\nchecksum\n`;
    expect(await quote(example("3.5"))).toEqual([
      "docs/BENCH.md says that mean([1, 2, 7]) is 3.5, but it is 3.3333333333333335",
    ]);

    expect(await quote(example("3.33"))).toEqual([]);
    const change = {
      "docs/BENCH.md": example("3.5"),
      "src/mean.mjs": "export const mean = (list) => list[1];\n",
    };

    const commands = ["grep -q checksum docs/BENCH.md"];
    const was = { ...before, "src/mean.mjs": "export const mean = () => 3.5;\n" };
    expect(gapsOf(await tried({ before: was, change, commands }))).not.toContainEqual(
      expect.stringContaining("says that mean"),
    );
  });

  test("may quote a script's output from before the work, and the one from now last", async () => {
    const block = (sum: number): string => `\`\`\`\n$ npm run bench\nchecksum ${sum}\n\`\`\`\n`;
    expect(await quote(`Before:\n\n${block(7)}\nAfter:\n\n${block(42)}`)).toEqual([]);
    expect(await quote(`Before:\n\n${block(42)}\nAfter:\n\n${block(7)}`)).toHaveLength(1);
  });

  test("is none if it is printed, if the command fails, or may not be run; commands share what they leave", async () => {
    const session =
      "```\n$ node bench.mjs\nchecksum 42\ntook 88 ms\n$ node todo.mjs help\nusage\n$ node todo.mjs add milk\n$ node todo.mjs list\nmilk\n```\n";
    expect(await quote(session)).toEqual([]);
    expect(
      await quote(
        `${session}\n\`\`\`\n$ curl example.com\nchecksum\n$ node todo.mjs list\nbread\n\`\`\`\n`,
      ),
    ).toEqual([]);

    expect(await quote(session.replace("\nmilk\n```", "\nbread\n```"))).toHaveLength(1);
  });
});

describe("what a document says and no check notices", () => {
  const before: Tree = {
    "package.json": '{"name":"cache"}\n',
    "src/cache.mjs": "export const most = 500;\n",
    "README.md": "# Cache\n",
    "check-docs.mjs":
      "import { readFileSync } from 'node:fs';\nimport { most } from './src/cache.mjs';\nconst said = /holds (\\d+) entries/.exec(readFileSync('README.md', 'utf8'))?.[1];\nif (Number(said) !== most) process.exit(1);\n",
  };
  const goal = "Describe in README.md how much the cache holds";
  const write = async (change: Tree, commands: readonly string[], of = goal) =>
    gapsOf(await tried({ before, change, commands, goal: of }));

  test("is the agent's word, however the document was asked for", async () => {
    const readme = "# Cache\n\nEntries expire after an hour.\n";
    const said = [expect.stringMatching(/README.md says something else \("Entries expire/)];
    expect(await write({ "README.md": readme }, ["grep -q Entries README.md"])).toEqual(said);
    expect(await write({ "README.md": readme }, ["grep -q Entries README.md"], "go")).toEqual(said);
    // A name that is otherwise a judge's.
    const coverage = { "docs/COVERAGE.md": "# Coverage\n\nAll of it is covered, 94.1 %.\n" };
    const named = ["grep -q Coverage docs/COVERAGE.md"];
    expect(await write(coverage, named, "Write docs/COVERAGE.md")).toHaveLength(1);
    const report = { "report.json": '{ "entries that expire": 17 }\n' };
    expect(await write(report, ["test -s report.json"], "Write report.json")).toHaveLength(1);
  });

  test("is none if a check reads each line of it", async () => {
    const readme = (most: number): string => `# Cache\n\nIt holds ${most} entries.\n`;
    expect(await write({ "README.md": readme(500) }, ["node check-docs.mjs"])).toEqual([]);
    const more = `${readme(500)}\nEntries expire after an hour.\n`;
    expect(await write({ "README.md": more }, ["node check-docs.mjs"])).toHaveLength(1);
    const words = "grep -q 'It holds 500 entries' README.md";
    expect(await write({ "README.md": readme(500) }, [words])).toEqual([]);
  });

  test("is so beside another check that fails anyway", async () => {
    const form = { ...before, "form.sh": "grep -Eq '^It holds [0-9]+ entries' README.md\n" };
    const change = { "README.md": "# Cache\n\nIt holds 731 entries.\n" };
    const check = (kind: Check["kind"], command: string): Check => ({
      id: command,
      kind,
      title: command,
      command,
      source: "test",
    });
    const checks = [check("criterion", "sh form.sh"), check("project", "sh missing.sh")];
    const trees = { root, blobs: new Map<string, Buffer>(), before: form, change, goal };
    const results = await tryOnTrees({ ...trees, parts: {} }, checks);
    expect(results[0]?.gap).toMatch(/README.md says something else/);
  });

  test("is its numbers, if a check knows only what stands beside them", async () => {
    const columns = ["name", "email", "city", "phone", "since", "until"];
    const rows = columns.map((name, index) => `| ${name} | ${index + 3} |\n`).join("");
    const report = `# Data\n\n## Results\n\n| column | empty |\n| --- | --- |\n${rows}`;
    const looks =
      "import { readFileSync } from 'node:fs';\nconst report = readFileSync('report.md', 'utf8');\nconst [head] = readFileSync('data.csv', 'utf8').split('\\n');\nfor (const name of head.split(',')) if (!new RegExp(`^\\\\| ${name} \\\\| \\\\d+ \\\\|$`, 'm').test(report)) process.exit(1);\nif (!/^## Results$/m.test(report) || !report.includes('| column | empty |')) process.exit(1);\n";
    const gaps = gapsOf(
      await tried({
        before: { ...before, "data.csv": `${columns.join(",")}\nAda,,,,,\n`, "looks.mjs": looks },
        change: { "report.md": report },
        commands: ["node looks.mjs"],
        goal: "Write report.md about data.csv",
      }),
    );
    expect(gaps).toEqual([expect.stringMatching(/report.md says something else \("\| name \| 3/)]);
  });

  test("is no gap in a document that a change only brings along", async () => {
    const change = {
      "src/cache.mjs": "export const most = 500;\nexport const least = () => 1;\n",
      "README.md": "# Cache\n\nEntries expire after an hour.\n",
    };
    const asked = "node -e \"import('./src/cache.mjs').then((m) => process.exit(m.least() - 1))\"";
    expect(await write(change, [asked], "Add least()")).toEqual([]);
    expect(await write(change, [asked], "Add least() to the README")).toHaveLength(1);
    const plan = { ...change, ".plans/PLAN.md": "# Plan\n\nFirst write it, then ask.\n" };
    expect(await write(plan, [asked], "Follow the plan: add least()")).toEqual([]);
  });
});

describe("criteria that only look", () => {
  const test0 = (name: string, from: string, wanted: number): Tree => ({
    [`test/${name}.test.js`]: `import test from "node:test";\nimport assert from "node:assert/strict";\n${from}\ntest("${name}", () => assert.equal(pages(10, 5), ${wanted}));\n`,
  });

  const before: Tree = {
    "package.json": '{ "type": "module" }\n',
    "src/page.js": "export const pages = (total, size) => Math.floor(total / size) + 1;\n",
    "test/old.test.js":
      'import test from "node:test";\nimport assert from "node:assert/strict";\nimport { pages } from "../src/page.js";\ntest("eleven", () => assert.equal(pages(11, 5), 3));\n',
  };

  const fix = { "src/page.js": "export const pages = (total, size) => Math.ceil(total / size);\n" };
  const own = 'import { pages } from "../src/page.js";';
  const looking = "test -f test/more.test.js";

  test("say nothing of new tests that another one shows to need the work, in any order", async () => {
    const change = { ...fix, ...test0("more", own, 2) };
    const orders = [
      [looking, "node --test test/"],
      ["node --test test/", looking],
    ];
    for (const commands of sampled(1, orders)) {
      expect(gapsOf(await tried({ before, change, commands }))).toEqual([
        "only tests that the work wrote itself show it (test/more.test.js), so read them, or add a check of your own (--holdout)",
      ]);
    }
  });

  test("show nothing if the new tests pass on the old code", async () => {
    const copy = test0("more", "const pages = (total, size) => Math.ceil(total / size);", 2);
    const gaps = gapsOf(
      await tried({ before, change: copy, commands: ["node --test test/", looking] }),
    );
    expect(gaps).toEqual([
      expect.stringContaining("the work changed nothing but tests, so what they show held before"),
    ]);
  });

  test("nor if they call the changed function, and hold without the change too", async () => {
    const change = {
      "src/page.js":
        "export const pages = (total, size) => {\n  const full = Math.floor(total / size);\n  return full + 1;\n};\n",
      "test/more.test.js": `import test from "node:test";\nimport assert from "node:assert/strict";\n${own}\ntest("ten", () => {\n  const n = pages(10, 5);\n  assert.ok(n === 2 || n > 0);\n});\n`,
    };

    const gaps = gapsOf(await tried({ before, change, commands: ["node --test test/"] }));
    expect(gaps).toContain(
      "it passes as well with the work taken out and only its new tests left in",
    );
  });

  test("nor is a check of other tests asked about the new ones", async () => {
    const change = { ...fix, ...test0("more", own, 2) };
    expect(
      gapsOf(await tried({ before, change, commands: ["node --test test/old.test.js"] })),
    ).toEqual([]);
  });

  test("do not make up for code that nothing runs", async () => {
    const change = {
      "src/page.js": `${before["src/page.js"] ?? ""}export function last(total) {\n  return total;\n}\n`,
    };

    const commands = ["node test/old.test.js && grep -q 'function last' src/page.js"];
    expect(gapsOf(await tried({ before, change, commands }))).toEqual([
      "its command never runs last (src/page.js:2): it passes as well with an error in the first line of each",
    ]);

    const asking = [
      "node test/old.test.js && node -e \"import('./src/page.js').then(({ last }) => process.exit(last(3) === 3 ? 0 : 1))\"",
    ];

    expect(gapsOf(await tried({ before, change, commands: asking }))).toEqual([]);
  });
});

test.skipIf(spawnSync("cc", ["--version"]).status !== 0)(
  "a definition in tests that takes the place of the work's own shows nothing of that (needs cc)",
  async () => {
    const before: Tree = {
      Makefile: "check:\n\tcc -o run src/*.c tests/*.c\n\t./run\n.PHONY: check\n",
      "src/double.h": "int twice(int one);\n",
      "src/double.c": '#include "double.h"\n\nint twice(int one)\n{\n    return one;\n}\n',
      "tests/main.c":
        '#include "../src/double.h"\n\nint main(void)\n{\n    if (twice(4) != 8) return 1;\n    return 0;\n}\n',
    };
    const weak =
      '#include "double.h"\n\n__attribute__((weak)) int twice(int one)\n{\n    return one + 4;\n}\n';
    const board = '#include "../src/double.h"\n\nint twice(int one)\n{\n    return one * 2;\n}\n';
    const gaps = async (change: Tree) =>
      gapsOf(await tried({ before, change, commands: ["make check"], goal: "Implement twice()" }));

    expect(await gaps({ "src/double.c": weak, "tests/board.c": board })).toContainEqual(
      expect.stringContaining("its command never runs twice (src/double.c:3)"),
    );
    const right = weak.replace("__attribute__((weak)) ", "").replace("one + 4", "one * 2");
    expect(await gaps({ "src/double.c": right })).toEqual([]);
  },
);

describe("an experiment whose dependencies can't be restored", () => {
  const before: Tree = {
    "sum.sh": "echo 1\n",
    "check.sh": 'set -e\n[ -f ready ]\n[ "$(sh sum.sh)" = 3 ]\n',
  };

  const change = { "sum.sh": "echo 3\n" };
  /** It works for the check itself, on the base and on the work, and not for experiments. */
  const restore = (timesMax: number): Check => {
    const file = join(root, "restores");
    const command = `echo x >> ${file}; [ "$(wc -l < ${file})" -le ${timesMax} ] && touch ready`;
    return { id: "restore:x", kind: "restore", title: "restore", command, source: "test" };
  };

  test("was not made, and is not taken for one that noticed something", async () => {
    const results = await tried(
      { before, change, commands: ["sh check.sh"] },
      { restores: [restore(2)] },
    );
    expect(results.at(-1)?.canary).toMatchObject({
      outcome: "unknown",
      detail: "its dependencies could not be restored to find out",
    });
  });

  test("is made if they can", async () => {
    const results = await tried(
      { before, change, commands: ["sh check.sh"] },
      { restores: [restore(1000)] },
    );
    expect(results.at(-1)?.canary?.outcome).toBe("noticed");
  });

  test("is made without what fails for the check too", async () => {
    const failing: Check = {
      id: "restore:x",
      kind: "restore",
      title: "restore",
      command: "exit 1",
      source: "test",
    };

    const results = await tried(
      { before: { ...before, ready: "" }, change, commands: ["sh check.sh"] },
      { restores: [failing] },
    );
    expect(results.at(-1)).toMatchObject({ status: "passed", canary: { outcome: "noticed" } });
  });
});
