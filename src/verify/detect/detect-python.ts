import { parse } from "smol-toml";
import { type Detected, isRecord, projectCheck, type Tree, useManifest } from "./manifest.ts";

const file = "pyproject.toml";

/** pytest, ruff and mypy where pyproject.toml or a file of their own configures them; pytest also where there are tests. */
export function detectPython(tree: Tree): Detected {
  if (!tree.files.has(file)) return withoutProject(tree);
  return useManifest(tree, file, (text) => {
    const { tool } = parse(text);
    const tools = isRecord(tool) ? tool : {};
    const run = runnerOf(tree);
    const checks = [];
    if (tools["ruff"] !== undefined || tree.files.has("ruff.toml") || tree.files.has(".ruff.toml")) {
      checks.push(projectCheck("ruff", `${run.tool}ruff check .`, `${file} tool.ruff`));
    }
    if (tools["mypy"] !== undefined || tree.files.has("mypy.ini") || tree.files.has(".mypy.ini")) {
      checks.push(projectCheck("mypy", `${run.tool}mypy${hasTargets(tools["mypy"]) ? "" : " ."}`, `${file} tool.mypy`));
    }
    const isConfigured = tools["pytest"] !== undefined || tree.files.has("pytest.ini");
    if (isConfigured || hasTests(tree)) {
      checks.push(projectCheck("pytest", `${run.module} pytest`, isConfigured ? `${file} tool.pytest` : "tests/"));
    }
    return { checks, warnings: [] };
  });
}

/** A project of before pyproject.toml: each tool by a file or a section of its own. */
function withoutProject(tree: Tree): Detected {
  const run = runnerOf(tree);
  const says = (name: string, section: RegExp): boolean => tree.files.has(name) && section.test(tree.read(name) ?? "");
  const pytest =
    ["pytest.ini", ".pytest.ini", "conftest.py", "tests/conftest.py", "test/conftest.py"].find((name) => tree.files.has(name)) ??
    (says("setup.cfg", /^\[tool:pytest\]/m) ? "setup.cfg" : says("tox.ini", /^\[pytest\]/m) ? "tox.ini" : undefined);
  const ruff = ["ruff.toml", ".ruff.toml"].find((name) => tree.files.has(name));
  const mypy = ["mypy.ini", ".mypy.ini"].find((name) => tree.files.has(name));
  return {
    checks: [
      ...(ruff === undefined ? [] : [projectCheck("ruff", `${run.tool}ruff check .`, ruff)]),
      ...(mypy === undefined
        ? []
        : [projectCheck("mypy", `${run.tool}mypy${/^files\s*=/m.test(tree.read(mypy) ?? "") ? "" : " ."}`, mypy)]),
      ...(pytest === undefined ? [] : [projectCheck("pytest", `${run.module} pytest`, pytest)]),
    ],
    warnings: [],
  };
}

/** A lock file names the tool that holds the project's own packages; without one, whatever python3 is. */
function runnerOf(tree: Tree): { readonly tool: string; readonly module: string } {
  const lock = [
    ["uv.lock", "uv run "],
    ["poetry.lock", "poetry run "],
    ["pdm.lock", "pdm run "],
  ].find(([name = ""]) => tree.files.has(name));
  const tool = lock?.[1] ?? "";
  return { tool, module: `${tool}${tool === "" ? "python3" : "python"} -m` };
}

/** mypy refuses a target on the command line beside one that its configuration names for other files. */
function hasTargets(mypy: unknown): boolean {
  return isRecord(mypy) && ["files", "packages", "modules"].some((key) => mypy[key] !== undefined);
}

function hasTests(tree: Tree): boolean {
  for (const path of tree.files) if (/^tests?\/(.*\/)?(test_[^/]*|[^/]*_test)\.py$/.test(path)) return true;
  return false;
}
