// check-env: which environment variables a project's own config may set for checks. Pure.
//
// The config file travels with the repository, so what it sets must not be able to steer the tools that judge. Which variables do that is
// a list, and a list can be incomplete: everything that is set is therefore shown in the preview, and acknowledged with it.

/** Names that load code, find programs, or pass options to a compiler, interpreter, package manager or test runner. */
const steering = new RegExp(
  [
    "^(?!NODE_ENV$)(LD|DYLD|GIT|NODE|NPM|PNPM|YARN|BUN|DENO|PYTHON|PYTEST|PIP|UV|POETRY|TOX|COVERAGE|RUBY|GEM|BUNDLE|RSPEC|PERL|PHP|JAVA|JDK|MAVEN|MVN|GRADLE|JEST|VITEST|MOCHA|TAP|ESLINT|TS_NODE|MAKE|CMAKE|CTEST|CARGO|RUST|RUSTC|RUSTDOC|GO|CGO|SSL|BASH|ZSH|XDG|AUTOPILOT)(_|[A-Z]*$)",
    "(OPTIONS|OPTS|OPT|ARGS|FLAGS|PATH|PRELOAD|RC|_HOME|_ROOT|_DIR|_CMD|_COMMAND|SHELL|PROXY)$",
    "^(ENV|IFS|HOME|TMPDIR|USER|LOGNAME|CC|CXX|PS4|EDITOR|VISUAL|PAGER)$",
  ].join("|"),
  "i",
);

export const maySteerChecks = (name: string): boolean => steering.test(name);
