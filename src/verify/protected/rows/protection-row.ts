// protection-row: what a row of the table of protected files says, and how it matches file names.

import type { ProtectedChange } from "../../../contracts/evidence.ts";

export type ProtectedKind = ProtectedChange["kind"];
export type Language = "js" | "py" | "go" | "rust" | "java";
/** A file that is protected only in part: how the protected part is separated from the rest. */
export type PartFormat =
  | "package"
  | "composer"
  | "pyproject"
  | "cargo"
  | "setup_cfg"
  | "pom"
  | "gradle"
  | "make"
  | "included"
  | "settings_gradle"
  | "properties"
  | "go_mod"
  | "go_work"
  | "cmake"
  | "deno"
  | "nx_project"
  | "pnpm_workspace"
  | "vite"
  | "lock"
  | "rust_source";

export type ProtectionRow = {
  readonly kind: ProtectedKind;
  readonly path: RegExp;
  readonly part?: PartFormat;
  /**
   * A new file of this kind counts if it would override existing ones: tests of this family, any
   * tests, files of these names, what its tool reads, a file of the same kind beside it, or because
   * a file of the base names it.
   */
  readonly rules?: Language | RegExp | "any" | "tool" | "beside" | "named";
  /** Why a new file of this kind counts, if there is more to say than that it overrides. */
  readonly because?: string;
  /**
   * What commands of checks would contain if they used it; then a new file of this kind counts too.
   */
  readonly tool?: RegExp;
  /**
   * New tests often bring one of these: it may be added, if the others pass without it and without
   * them.
   */
  readonly comesWithTests?: true;
  /** Whether a new file of this kind overrides nothing anyway. */
  readonly isHarmless?: (text: string) => boolean;
  /** For an ambiguous name: what the base's file must contain to be a protected file. */
  readonly content?: RegExp;
  /**
   * For a file that affects another folder than its own: `.cargo/config.toml` affects the parent of
   * `.cargo`.
   */
  readonly ownFolder?: RegExp;
};

/** Matches these files in any folder. Each name is the source of a regular expression. */
export const fileNamed = (...names: readonly string[]): RegExp =>
  new RegExp(`(?:^|/)(?:${names.join("|")})$`);
