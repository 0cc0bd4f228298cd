// base-environment: the environment that commands in a sandbox get in these tests.

const passedVariables = new Set([
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "LANG",
  "LANGUAGE",
  "TERM",
  "COLORTERM",
  "TZ",
  "TMPDIR",
  "NO_COLOR",
  "CI",
]);

/** The variables of this process that every command here gets. */
export function baseEnvironment(
  outer: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(outer)) {
    if (value !== undefined && (passedVariables.has(name) || name.startsWith("LC_"))) {
      env[name] = value;
    }
  }

  return env;
}
