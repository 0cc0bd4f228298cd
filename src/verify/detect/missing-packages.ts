// missing-packages: packages that a command needed, that a manifest of its tree names, and that aren't installed. Checks get a copy of what
// the user has installed, so a dependency that is new in a manifest is missing: neither a mistake nor a false claim. Pure.

/** How tools report a missing package. The name is what was imported. */
const messageForms: readonly RegExp[] = [
  /Cannot find (?:module|package) '((?:@[^'/]+\/)?[^'./][^'/]*)/, // node
  /(?:Failed to resolve import|Module not found|Could not resolve).{0,120}?["']((?:@[^"'/]+\/)?[^"'./][^"'/]*)/, // bundlers
  /No module named '?([A-Za-z_]\w*)(?![\w.])/, // Python; of a missing part (`shop.money`) the package is there
  /no required module provides package ([\w./~-]+?)[:;]/, // Go
  /no matching package named `([^`]+)` found/, // Cargo
  /unresolved (?:import|module or unlinked crate) `(\w+)/, // Rust
];

const manifests = ["package.json", "pyproject.toml", "requirements.txt", "setup.cfg", "Pipfile", "go.mod", "Cargo.toml"] as const;

export type MissingPackage = { readonly name: string; readonly manifest: string };

/** `read`: a file of the tree the command ran on; null if it doesn't exist. */
export function findMissingPackages(lines: readonly string[], read: (path: string) => string | null): readonly MissingPackage[] {
  const names = new Set(lines.flatMap((line) => messageForms.flatMap((form) => form.exec(line)?.[1] ?? [])));
  return [...names].flatMap((name) => {
    const manifest = manifests.find((path) => isNamed(name, read(path)));
    return manifest === undefined ? [] : [{ name, manifest }];
  });
}

/** Case and `-` or `_` make no difference to most registries. */
function isNamed(name: string, manifest: string | null): boolean {
  if (manifest === null) return false;
  const normalize = (text: string): string => text.toLowerCase().replaceAll("_", "-");
  const pattern = normalize(name).replaceAll(/[^\w-]/g, "\\$&");
  return new RegExp(`(?<![\\w-])${pattern}(?![\\w-])`).test(normalize(manifest));
}

export function missingPackageMessage(missing: readonly MissingPackage[]): string {
  const [first, ...others] = missing;
  if (first === undefined) return "";
  const names = [first, ...others].map(({ name }) => name).join(", ");
  const verb = others.length === 0 ? "is" : "are";
  return `${names} ${verb} named in ${first.manifest} and not installed here; install what the manifest names, or set checks.restore: lockfile in your own config`;
}
