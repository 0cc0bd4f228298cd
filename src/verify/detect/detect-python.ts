// detect-python: detects ruff, mypy and pytest or unittest, from pyproject.toml, their own config
// files, or the tests themselves.

import { basename, dirname } from "node:path";
import { parse } from "smol-toml";
import {
  type DetectedChecks,
  isRecord,
  createProjectCheck,
  type Tree,
  detectFromManifest,
} from "./manifest.ts";

const file = "pyproject.toml";

/**
 * ruff and mypy if pyproject.toml or their own file configures them; pytest if it is configured,
 * else the runner that fits the tests.
 */
export function detectPython(tree: Tree): DetectedChecks {
  if (!tree.files.has(file)) return detectWithoutPyproject(tree);
  return detectFromManifest(tree, file, (text) => {
    const { tool } = parse(text);
    const tools = isRecord(tool) ? tool : {};
    const run = chooseRunner(tree);
    /**
     * Where a tool is configured: its table in pyproject.toml, else a file of its own; undefined if
     * nowhere.
     */
    const findConfig = (tool: string, ...names: readonly string[]): string | undefined =>
      tools[tool] === undefined
        ? names.find((name) => tree.files.has(name))
        : `${file} tool.${tool}`;

    const checks = [];
    const ruffConfig = findConfig("ruff", "ruff.toml", ".ruff.toml");
    if (ruffConfig !== undefined) {
      checks.push(createProjectCheck("ruff", `${run.tool}ruff check .`, ruffConfig));
    }

    const mypyConfig = findConfig("mypy", "mypy.ini", ".mypy.ini");
    if (mypyConfig !== undefined) {
      const target = hasTargets(tools["mypy"]) ? "" : " .";
      checks.push(createProjectCheck("mypy", `${run.tool}mypy${target}`, mypyConfig));
    }

    const pytestConfig = findConfig("pytest", "pytest.ini");
    if (pytestConfig === undefined) checks.push(...detectTestRunner(tree, run.module));
    else checks.push(createProjectCheck("pytest", `${run.module} pytest`, pytestConfig));

    return { checks, warnings: [] };
  });
}

const pytestSections = { "setup.cfg": /^\[tool:pytest\]/m, "tox.ini": /^\[pytest\]/m } as const;

/** A project without pyproject.toml: each tool by a file or section of its own. */
function detectWithoutPyproject(tree: Tree): DetectedChecks {
  const run = chooseRunner(tree);
  const findFile = (...names: readonly string[]): string | undefined =>
    names.find((name) => tree.files.has(name));
  const hasSection = (name: string, section: RegExp): boolean =>
    tree.files.has(name) && section.test(tree.read(name) ?? "");

  const checks = [];
  const ruffFile = findFile("ruff.toml", ".ruff.toml");
  if (ruffFile !== undefined) {
    checks.push(createProjectCheck("ruff", `${run.tool}ruff check .`, ruffFile));
  }

  const mypyFile =
    findFile("mypy.ini", ".mypy.ini") ??
    (hasSection("setup.cfg", /^\[mypy\]/m) ? "setup.cfg" : undefined);
  if (mypyFile !== undefined) {
    const target = /^files\s*=/m.test(tree.read(mypyFile) ?? "") ? "" : " .";
    checks.push(createProjectCheck("mypy", `${run.tool}mypy${target}`, mypyFile));
  }

  const pytestFile =
    findFile("pytest.ini", ".pytest.ini", "conftest.py", "tests/conftest.py", "test/conftest.py") ??
    Object.entries(pytestSections).find(([name, section]) => hasSection(name, section))?.[0];
  if (pytestFile !== undefined) {
    checks.push(createProjectCheck("pytest", `${run.module} pytest`, pytestFile));
  } else if ([...tree.files].some((path) => projectFile.test(path))) {
    checks.push(...detectTestRunner(tree, run.module));
  }

  return { checks, warnings: [] };
}

/** A file that says that this is a Python project, and not a single script among others. */
const projectFile =
  /^(setup\.(py|cfg)|tox\.ini|Pipfile|requirements[^/]*\.txt|[^/]+\/__init__\.py)$/;

/**
 * A lock file names the tool that has the project's packages; without one, python3. `tool` and
 * `module` go before a program's name.
 */
function chooseRunner(tree: Tree): { readonly tool: string; readonly module: string } {
  const lockFile = [
    ["uv.lock", "uv run "],
    ["poetry.lock", "poetry run "],
    ["pdm.lock", "pdm run "],
  ].find(([name = ""]) => tree.files.has(name));
  const tool = lockFile?.[1] ?? "";
  return { tool, module: `${tool}${tool === "" ? "python3" : "python"} -m` };
}

/** mypy refuses a target on the command line if its configuration names other files. */
function hasTargets(mypy: unknown): boolean {
  return isRecord(mypy) && ["files", "packages", "modules"].some((key) => mypy[key] !== undefined);
}

/** `test_sum.py` at the top, `tests/unit/sum_test.py`. */
const testFile = /^(?:(?:.*\/)?tests?\/(?:.*\/)?)?(?:test_[^/]*|[^/]*_test)\.py$/;
/** With more test files none is read, and pytest runs them: it runs both kinds. */
const filesReadMax = 50;

/**
 * The runner for unconfigured tests: unittest if all of them are written for it, else pytest, which
 * runs both.
 */
function detectTestRunner(tree: Tree, module: string): DetectedChecks["checks"] {
  const tests = [...tree.files].filter((path) => testFile.test(path)).toSorted();
  const [first] = tests;
  if (first === undefined) return [];
  const folder = dirname(first);
  const texts = tests.length > filesReadMax ? [] : tests.map((path) => tree.read(path) ?? "");
  const isForUnittest = (text: string): boolean =>
    /^(import|from) unittest\b/m.test(text) && !/^(import|from) pytest\b|^def test_/m.test(text);
  const isUnittestOnly = texts.length > 0 && texts.every(isForUnittest);
  // unittest's discovery finds `test_*.py` in one folder.
  const isDiscoverable = (path: string): boolean =>
    dirname(path) === folder && basename(path).startsWith("test_");
  if (!isUnittestOnly || !tests.every(isDiscoverable)) {
    return [createProjectCheck("pytest", `${module} pytest`, first)];
  }

  // Tests in a package are imported from the root, so that they may import each other.
  const topFolder = tree.files.has(`${folder}/__init__.py`) ? " -t ." : "";
  const startFolder = folder === "." ? "" : ` -s ${folder}${topFolder}`;
  return [createProjectCheck("unittest", `${module} unittest discover${startFolder}`, first)];
}
