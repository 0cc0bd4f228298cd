// repository-variables: decides which environment variables a project's own config may set for checks. Pure.
//
// The config file travels with the repository, and a variable can choose the program that judges
// (PATH, RUSTUP_TOOLCHAIN), load code into it, or pass it options. The names that do cannot all be
// listed, so this lists those that don't; every other one needs its user's permission.

/**
 * Variables that say where, in which language or mode a program runs, or which settings it reads;
 * none chooses a program.
 */
const harmlessNames = new Set([
  "CI",
  "TZ",
  "LANG",
  "LANGUAGE",
  "TERM",
  "COLORTERM",
  "NO_COLOR",
  "FORCE_COLOR",
  "CLICOLOR",
  "CLICOLOR_FORCE",
  "COLUMNS",
  "LINES",
  "DEBUG",
  "LOG_LEVEL",
  "PORT",
  "DATABASE_URL",
  "TEST_DATABASE_URL",
  "REDIS_URL",
  "NODE_ENV",
  "RAILS_ENV",
  "RACK_ENV",
  "MIX_ENV",
  "DJANGO_SETTINGS_MODULE",
]);
/** Prefixes of names that no tool uses itself. */
const harmlessPrefixes = ["LC_", "APP_"];

/**
 * Whether a project's config may set a variable; `allowed` is what its user allows in addition:
 * names, or prefixes ending in `*`.
 */
export const mayRepositorySet = (name: string, allowed: readonly string[] = []): boolean =>
  harmlessNames.has(name) ||
  harmlessPrefixes.some((prefix) => name.startsWith(prefix)) ||
  allowed.some((pattern) => matches(pattern, name));

/** A bare `*` would allow everything, and matches nothing. */
const matches = (pattern: string, name: string): boolean =>
  pattern.endsWith("*")
    ? pattern.length > 1 && name.startsWith(pattern.slice(0, -1))
    : name === pattern;
