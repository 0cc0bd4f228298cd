// command-needs: finds what a check's command needs on this machine: its program, its installed
// packages. A missing tool is not a failing check. Pure; whether they exist is looked up elsewhere.

import { isRecord, type Tree } from "./manifest.ts";

export type Need =
  | { readonly kind: "program"; readonly name: string; readonly install: string }
  | { readonly kind: "folder"; readonly name: string; readonly install: string }
  /** A Python module, of the interpreter that is named. */
  | {
      readonly kind: "module";
      readonly name: string;
      readonly python: string;
      readonly install: string;
    };

/** How a program is installed: the way that its makers recommend first. */
const installs: Readonly<Record<string, string>> = {
  uv: "curl -LsSf https://astral.sh/uv/install.sh | sh",
  poetry: "pipx install poetry",
  pdm: "pipx install pdm",
  pipenv: "pipx install pipenv",
  ruff: "pipx install ruff",
  mypy: "pipx install mypy",
  pytest: "python3 -m pip install pytest",
  tox: "pipx install tox",
  npm: "install Node.js: https://nodejs.org",
  npx: "install Node.js: https://nodejs.org",
  node: "install Node.js: https://nodejs.org",
  pnpm: "npm install -g pnpm",
  yarn: "npm install -g yarn",
  bun: "curl -fsSL https://bun.sh/install | bash",
  deno: "curl -fsSL https://deno.land/install.sh | sh",
  cargo: "curl -sSf https://sh.rustup.rs | sh",
  go: "install Go: https://go.dev/dl",
  python3: "install Python: https://www.python.org/downloads",
  mvn: "install Maven: https://maven.apache.org/install.html",
  gradle: "install Gradle: https://gradle.org/install",
};

/** Shell built-ins, which need nothing. */
const builtins = new Set(
  "! . : [ break case cd command echo eval exec exit export false for if printf pwd read set test then time true type unset while { (".split(
    " ",
  ),
);

export function findNeeds(command: string, tree: Tree): readonly Need[] {
  const words = command.trim().split(/\s+/);
  const programIndex = words.findIndex((word) => !/^[A-Za-z_]\w*=\S*$/.test(word)); // behind settings such as `CI=1`
  const [program = "", ...args] = programIndex === -1 ? [] : words.slice(programIndex);
  if (!/^[\w+-][\w.+-]*$/.test(program) || builtins.has(program)) return []; // a path of the tree, or something only a shell can resolve
  const needs: Need[] = [
    { kind: "program", name: program, install: installs[program] ?? `install ${program}` },
  ];

  const module = /^python[\d.]*$/.test(program) && args[0] === "-m" ? args[1] : undefined;
  const isInTree = tree.files.has(`${module}.py`) || tree.files.has(`${module}/__init__.py`);
  if (module !== undefined && !isInTree) {
    needs.push({
      kind: "module",
      name: module,
      python: program,
      install: `${program} -m pip install ${module}`,
    });
  }

  return [...needs, ...findPackageNeeds(program, tree)];
}

/**
 * Scripts of package.json call programs that are installed beside it; with Yarn's `.pnp.cjs` there
 * is no folder of them.
 */
function findPackageNeeds(program: string, tree: Tree): readonly Need[] {
  const managers = ["npm", "npx", "pnpm", "yarn", "bun"];
  if (
    !managers.includes(program) ||
    tree.files.has(".pnp.cjs") ||
    !hasDependencies(tree.read("package.json"))
  ) {
    return [];
  }

  const manager = program === "npx" ? "npm" : program;
  const isLocked = tree.files.has("package-lock.json") || tree.files.has("npm-shrinkwrap.json");
  return [
    {
      kind: "folder",
      name: "node_modules",
      install: manager === "npm" && isLocked ? "npm ci" : `${manager} install`,
    },
  ];
}

function hasDependencies(manifest: string | null): boolean {
  try {
    const parsed: unknown = JSON.parse(manifest ?? "null");
    const hasEntries = (key: string): boolean =>
      isRecord(parsed) && isRecord(parsed[key]) && Object.keys(parsed[key]).length > 0;
    return hasEntries("dependencies") || hasEntries("devDependencies");
  } catch {
    return false;
  }
}
