// real-suites: the suites of real packages, unchanged except for a comment in their code: the
// canary must fire in every one that has tests. With --red their code is missing on the base: then
// every test rests on the work, and those that cannot be shown to fail are reported. What cannot be
// had here (a registry, a program) is skipped with a line. An archive that lies in FOLDER
// (six-1.16.0.tar.gz) is not fetched. node bench/real-suites.mjs [--red] [--from FOLDER] [NAME …]

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { parseArgs } from "node:util";
import type { Check } from "../src/contracts/evidence.ts";
import { systemClock } from "../src/project/runs/system-clock.ts";
import { openVerifier, type VerifierParts } from "../src/verify/verifier.ts";
import { readCheckoutStamp } from "../src/workspace/layers/check-folder.ts";

type Suite = {
  readonly from: "npm" | "pip";
  readonly name: string;
  readonly runner: string;
  /** What the suite needs beside itself. */
  readonly needs?: readonly string[];
  readonly command: string;
  /** The file that gets a comment. */
  readonly source: string;
};

const suites: readonly Suite[] = [
  {
    from: "npm",
    name: "minimist@1.2.8",
    runner: "tape",
    needs: ["tape@5"],
    command: "npx tape 'test/*.js'",
    source: "index.js",
  },
  {
    from: "npm",
    name: "qs@6.11.0",
    runner: "tape",
    needs: [
      "tape@5",
      "object-inspect",
      "has-symbols",
      "iconv-lite",
      "safer-buffer",
      "for-each",
      "side-channel@1",
      "es-value-fixtures",
      "mock-property",
      "has-override-mistake",
      "has-property-descriptors",
    ],
    command: "npx tape 'test/**/*.js'",
    source: "lib/parse.js",
  },
  {
    from: "npm",
    name: "concat-map@0.0.1",
    runner: "tape",
    needs: ["tape@5"],
    command: "npx tape 'test/*.js'",
    source: "index.js",
  },
  {
    from: "npm",
    name: "pino-std-serializers@7.0.0",
    runner: "node:test",
    command: "node --test test/err.test.js test/err-with-cause.test.js",
    source: "lib/err.js",
  },
  {
    from: "npm",
    name: "secure-json-parse@3.0.2",
    runner: "tape",
    needs: ["tape@5"],
    command: "npx tape test/index.test.js",
    source: "index.js",
  },
  {
    from: "npm",
    name: "fastq@1.17.1",
    runner: "tape",
    needs: ["tape@5", "reusify", "async@3", "neo-async"],
    command: "npx tape test/test.js test/promise.js",
    source: "queue.js",
  },
  {
    from: "npm",
    name: "reusify@1.0.4",
    runner: "tape",
    needs: ["tape@5"],
    command: "npx tape test.js",
    source: "reusify.js",
  },
  {
    from: "npm",
    name: "deep-equal@1.1.1",
    runner: "tape",
    needs: [
      "tape@5",
      "is-arguments",
      "is-date-object",
      "is-regex",
      "object-is",
      "object-keys",
      "regexp.prototype.flags",
    ],
    command: "npx tape 'test/*.js'",
    source: "index.js",
  },
  {
    from: "pip",
    name: "six==1.16.0",
    runner: "pytest",
    command: "python3 -m pytest -q test_six.py -k 'not ndbm'",
    source: "six.py",
  },
  {
    from: "pip",
    name: "toolz==0.12.1",
    runner: "pytest",
    command: "python3 -m pytest -q toolz/tests/test_itertoolz.py",
    source: "toolz/itertoolz.py",
  },
  {
    from: "pip",
    name: "tomli==2.0.1",
    runner: "unittest",
    command: "PYTHONPATH=src python3 -m unittest",
    source: "src/tomli/_parser.py",
  },
  {
    from: "pip",
    name: "more-itertools==10.2.0",
    runner: "unittest",
    command: "python3 -m unittest tests.test_recipes",
    source: "more_itertools/recipes.py",
  },
  {
    from: "pip",
    name: "iniconfig==2.0.0",
    runner: "pytest",
    command: "PYTHONPATH=src python3 -m pytest -q testing",
    source: "src/iniconfig/__init__.py",
  },
];

const [base, work] = ["b".repeat(40), "c".repeat(40)];
const {
  values: { red: isRed = false, from: archives },
  positionals: only,
} = parseArgs({
  options: { red: { type: "boolean" }, from: { type: "string" } },
  allowPositionals: true,
});
const results: string[] = [];
for (const suite of suites.filter(
  ({ name }) => only.length === 0 || only.some((one) => name.includes(one)),
)) {
  const root = mkdtempSync(join(tmpdir(), "suite-"));
  try {
    fetched(suite, root);
    const [outcome, message] = await tried(suite, root);
    results.push(outcome);
    process.stdout.write(
      `${outcome === "noticed" ? "✓" : "✗"} ${suite.name} (${suite.runner}): ${message}\n`,
    );
  } catch (error) {
    const [line = ""] = String(error instanceof Error ? error.message : error).split("\n");
    process.stdout.write(`- skipped ${suite.name}: ${line.slice(0, 160)}\n`);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
const fired = results.filter((outcome) => outcome === "noticed").length;
process.stdout.write(`\nthe canary fired in ${fired} of ${results.length} suites\n`);
process.exitCode = fired === results.length ? 0 : 1;

/** The package's own archive, unpacked, with what its tests need beside it. */
function fetched({ from, name, needs = [] }: Suite, root: string): void {
  const run = (file: string, ...args: readonly string[]): void =>
    void execFileSync(file, args, {
      cwd: root,
      stdio: ["ignore", "ignore", "pipe"],
      timeout: 180_000,
    });

  const own =
    archives === undefined ? "" : join(archives, `${name.replace(/==|(?<=.)@/, "-")}.tar.gz`);
  if (existsSync(own)) {
    cpSync(own, join(root, basename(own)));
  } else if (from === "npm") {
    run("npm", "pack", "--silent", name);
  } else {
    run(
      "python3",
      "-m",
      "pip",
      "download",
      "-q",
      "--no-deps",
      "--no-binary",
      ":all:",
      "--no-build-isolation",
      "--retries",
      "0",
      "--timeout",
      "10",
      name,
    );
  }

  const archive = readdirSync(root).find((file) => /\.(?:tgz|tar\.gz)$/.test(file));
  if (archive === undefined) throw new Error("no archive came");
  mkdirSync(join(root, "own"));
  run("tar", "xzf", archive, "-C", "own", "--strip-components=1");
  if (needs.length === 0) return;
  writeFileSync(join(root, "package.json"), "{}\n");
  run("npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", ...needs);
}

async function tried({ command, source }: Suite, root: string): Promise<readonly [string, string]> {
  const blobs = new Map<string, Uint8Array>();
  const verifier = openVerifier({
    workspace: workspaceOf(root, source),
    putBlob: async (bytes) => {
      const name = createHash("sha256").update(bytes).digest("hex");
      blobs.set(name, bytes);
      return name;
    },
    readBlob: async (name) => blobs.get(name) ?? new Uint8Array(),
    isolation: "none",
    product: "bench",
    timeoutMs: 300_000,
    repeatMax: 1,
    clock: systemClock,
  });

  const check: Check = {
    id: "project:tests",
    kind: "project",
    title: "tests",
    command,
    source: "bench",
  };

  const order = {
    attempt: "1@1/prove#1",
    checks: [check],
    cancel: new AbortController().signal,
    onLiveEvent: () => undefined,
  };

  const [before] = await verifier.check({ ...order, commit: base });
  if (before === undefined || (before.status !== "passed" && !isRed)) {
    throw new Error(
      `its own suite is ${before?.status ?? "not run"} here (${before?.failed ?? before?.why ?? ""})`,
    );
  }

  const [result] = await verifier.check({
    ...order,
    commit: work,
    base,
    evidenceBefore: { [check.id]: before.evidence },
  });
  return [
    result?.canary?.outcome ?? "none",
    `${result?.canary?.outcome ?? "none"}, ${result?.canary?.detail ?? ""}${result?.gap === undefined ? "" : `; ${result.gap}`}`,
  ];
}

/** Two trees: the package, and the same with a comment more. */
function workspaceOf(root: string, source: string): VerifierParts["workspace"] {
  const own = join(root, "own");
  const all = readdirSync(own, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(own.length + 1));

  const comment = source.endsWith(".py") ? "\n# a comment\n" : "\n// a comment\n";
  const missing = source.endsWith(".py")
    ? 'raise ImportError("not yet")\n'
    : 'throw new Error("not yet");\n';

  const textOf = (commit: string, path: string): string | null => {
    if (isRed && commit === base && path === source) return missing;
    if (!existsSync(join(own, path))) return null;
    return (
      readFileSync(join(own, path), "utf8") + (commit === work && path === source ? comment : "")
    );
  };

  let laid = "";
  return {
    checkout: async (commit, purpose, taken) => {
      const folder = join(root, purpose);
      rmSync(folder, { recursive: true, force: true });
      cpSync(own, folder, { recursive: true });

      if (existsSync(join(root, "node_modules"))) {
        symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
      }

      writeFileSync(join(folder, source), textOf(commit, source) ?? "");
      for (const path of taken?.without ?? []) rmSync(join(folder, path), { force: true });
      for (const path of taken?.paths ?? []) {
        writeFileSync(join(folder, path), textOf(taken?.from ?? commit, path) ?? "");
      }

      for (const { path, text } of taken?.written ?? []) {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        writeFileSync(join(folder, path), text);
      }

      laid = createHash("sha1")
        .update(JSON.stringify([commit, taken ?? null]))
        .digest("hex");

      return folder;
    },
    dropCheckout: async () => undefined,
    foldersOf: (folder) => [folder],
    touchedIn: async () => [],
    stampOf: readCheckoutStamp,
    rewrittenIn: async () => [],
    dependenciesIn: async () => null,
    differences: async (from, to) => (from === to ? [] : [{ path: source, kind: "changed" }]),
    pathsAt: async () => all,
    textAt: async (commit, path) => textOf(commit, path),
    hasCommit: async () => false,
    inspect: async () => ({ layer: "absent", commit: null }),
    requireIntact: () => Promise.resolve(),
    treeOf: async () => laid,
  };
}
