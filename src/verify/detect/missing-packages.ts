// missing-packages: finds packages that a command needed, that a manifest of its tree names, and
// that aren't installed. Checks get a copy of what the user has installed, so a dependency that is
// new in a manifest is missing: neither a mistake nor a false claim. A module of the project itself
// that isn't written yet doesn't count. Pure.

/** How tools report a missing package. The captured name is what was imported. */
const messageForms: readonly RegExp[] = [
  /Cannot find (?:module|package) '((?:@[^'/]+\/)?[^'./][^'/]*)/, // node
  /(?:Failed to resolve import|Module not found|Could not resolve).{0,120}?["']((?:@[^"'/]+\/)?[^"'./][^"'/]*)/, // bundlers
  /No module named '?([A-Za-z_]\w*(?:\.\w+)*)/, // Python, which gives a dotted name only if it has found the package
  /no required module provides package ([\w./~-]+?)[:;]/, // Go
  /no matching package named `([^`]+)` found/, // Cargo
  /unresolved (?:import|module or unlinked crate) `(\w+)/, // Rust
];

const manifests = [
  "package.json",
  "pyproject.toml",
  "requirements.txt",
  "setup.cfg",
  "Pipfile",
  "go.mod",
  "Cargo.toml",
] as const;

export type MissingPackage = { readonly name: string; readonly manifest: string };

/** `read`: reads a file of the tree the command ran on; null if it doesn't exist. */
export function findMissingPackages(
  lines: readonly string[],
  read: (path: string) => string | null,
): readonly MissingPackage[] {
  const names = new Set(
    lines.flatMap((line) => messageForms.flatMap((form) => form.exec(line)?.[1] ?? [])),
  );

  const missing: MissingPackage[] = [];
  for (const name of names) {
    const manifest = manifests.find((path) => isNamed(name, read(path)));
    const isProject = manifests.some((path) =>
      findProjectNames(read(path) ?? "").has(normalize(name)),
    );

    const isWritten = [`${name}.py`, `${name}/__init__.py`, `src/${name}/__init__.py`].some(
      (path) => read(path) !== null,
    );
    // The project's own package counts only if it is written: then it has to be installed to be
    // found.
    if (manifest !== undefined && (!isProject || isWritten)) missing.push({ name, manifest });
  }

  return missing;
}

/** Case and `-` or `_` make no difference to most registries. */
const normalize = (text: string): string => text.toLowerCase().replaceAll("_", "-");

/**
 * What a manifest calls its own project: `"name": "calc"`, `name = "calc"`, `module
 * example.com/calc`.
 */
const findProjectNames = (manifest: string): ReadonlySet<string> =>
  new Set(
    [
      ...manifest.matchAll(/^(?: {2}|\t|\{ ?)?"?(?:name"?\s*[:=]|module\s)\s*["']?([^"'\s]+)/gm),
    ].map(([, name = ""]) => normalize(name)),
  );

function isNamed(name: string, manifest: string | null): boolean {
  if (manifest === null) return false;
  const pattern = normalize(name).replaceAll(/[^\w-]/g, "\\$&");
  return new RegExp(`(?<![\\w-])${pattern}(?![\\w-])`).test(normalize(manifest));
}

export function describeMissingPackages(missing: readonly MissingPackage[]): string {
  const [first, ...others] = missing;
  if (first === undefined) return "";
  const names = [first, ...others].map(({ name }) => name).join(", ");
  const verb = others.length === 0 ? "is" : "are";

  return `${names} ${verb} named in ${first.manifest} and not installed here; install what the manifest names, or set checks.restore: lockfile in your own config`;
}
