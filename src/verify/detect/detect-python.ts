// detect-python: detects ruff, mypy and pytest from pyproject.toml or their own config files.

import { basename, dirname } from "node:path";
import { parse } from "smol-toml";
import { type Detected, isRecord, projectCheck, type Tree, useManifest } from "./manifest.ts";

const file = "pyproject.toml";

/** ruff and mypy if pyproject.toml or their own file configures them; pytest if it is configured or there are tests. */
export function detectPython(tree: Tree): Detected {
  if (!tree.files.has(file)) return detectWithoutPyproject(tree);
  return useManifest(tree, file, (text) => {
    const { tool } = parse(text);
    const tools = isRecord(tool) ? tool : {};
    const run = chooseRunner(tree);
    const checks = [];
    if (tools["ruff"] !== undefined || tree.files.has("ruff.toml") || tree.files.has(".ruff.toml")) {
      checks.push(projectCheck("ruff", `${run.tool}ruff check .`, `${file} tool.ruff`));
    }
    if (tools["mypy"] !== undefined || tree.files.has("mypy.ini") || tree.files.has(".mypy.ini")) {
      checks.push(projectCheck("mypy", `${run.tool}mypy${hasTargets(tools["mypy"]) ? "" : " ."}`, `${file} tool.mypy`));
    }
    const isConfigured = tools["pytest"] !== undefined || tree.files.has("pytest.ini");
    if (isConfigured) checks.push(projectCheck("pytest", `${run.module} pytest`, `${file} tool.pytest`));
    return { checks: [...checks, ...(isConfigured ? [] : detectTestRunner(tree, run.module))], warnings: [] };
  });
}

const pytestSections = { "setup.cfg": /^\[tool:pytest\]/m, "tox.ini": /^\[pytest\]/m } as const;

/** A project without pyproject.toml: each tool by a file or section of its own. */
function detectWithoutPyproject(tree: Tree): Detected {
  const run = chooseRunner(tree);
  const hasSection = (name: string, section: RegExp): boolean => tree.files.has(name) && section.test(tree.read(name) ?? "");
  const pytest =
    ["pytest.ini", ".pytest.ini", "conftest.py", "tests/conftest.py", "test/conftest.py"].find((name) => tree.files.has(name)) ??
    Object.entries(pytestSections).find(([name, section]) => hasSection(name, section))?.[0];
  const isProject = [...tree.files].some((path) =>
    /^(setup\.(py|cfg)|tox\.ini|Pipfile|requirements[^/]*\.txt|[^/]+\/__init__\.py)$/.test(path),
  );
  const ruff = ["ruff.toml", ".ruff.toml"].find((name) => tree.files.has(name));
  const mypy =
    ["mypy.ini", ".mypy.ini"].find((name) => tree.files.has(name)) ?? (hasSection("setup.cfg", /^\[mypy\]/m) ? "setup.cfg" : undefined);
  const testRunner = isProject ? detectTestRunner(tree, run.module) : [];
  return {
    checks: [
      ...(ruff === undefined ? [] : [projectCheck("ruff", `${run.tool}ruff check .`, ruff)]),
      ...(mypy === undefined
        ? []
        : [projectCheck("mypy", `${run.tool}mypy${/^files\s*=/m.test(tree.read(mypy) ?? "") ? "" : " ."}`, mypy)]),
      ...(pytest === undefined ? testRunner : [projectCheck("pytest", `${run.module} pytest`, pytest)]),
    ],
    warnings: [],
  };
}

/** A lock file names the tool that has the project's packages; without one, python3. */
function chooseRunner(tree: Tree): { readonly tool: string; readonly module: string } {
  const lock = [
    ["uv.lock", "uv run "],
    ["poetry.lock", "poetry run "],
    ["pdm.lock", "pdm run "],
  ].find(([name = ""]) => tree.files.has(name));
  const tool = lock?.[1] ?? "";
  return { tool, module: `${tool}${tool === "" ? "python3" : "python"} -m` };
}

/** mypy refuses a target on the command line if its configuration names other files. */
function hasTargets(mypy: unknown): boolean {
  return isRecord(mypy) && ["files", "packages", "modules"].some((key) => mypy[key] !== undefined);
}

const testFile = /^(?:(?:.*\/)?tests?\/(?:.*\/)?)?(?:test_[^/]*|[^/]*_test)\.py$/;
const filesReadMax = 50;

/** The runner for unconfigured tests: unittest if all of them are written for it, else pytest, which runs both. */
function detectTestRunner(tree: Tree, module: string): Detected["checks"] {
  const tests = [...tree.files].filter((path) => testFile.test(path)).toSorted();
  const [first] = tests;
  if (first === undefined) return [];
  const folder = dirname(first);
  const texts = tests.length > filesReadMax ? [] : tests.map((path) => tree.read(path) ?? "");
  const isUnittestOnly =
    texts.length > 0 && texts.every((text) => /^(import|from) unittest\b/m.test(text) && !/^(import|from) pytest\b|^def test_/m.test(text));
  if (!isUnittestOnly || tests.some((path) => dirname(path) !== folder || !basename(path).startsWith("test_")))
    return [projectCheck("pytest", `${module} pytest`, first)];
  // Tests in a package are imported from the root, so that they may import each other.
  const startFolder = folder === "." ? "" : ` -s ${folder}${tree.files.has(`${folder}/__init__.py`) ? " -t ." : ""}`;
  return [projectCheck("unittest", `${module} unittest discover${startFolder}`, first)];
}
