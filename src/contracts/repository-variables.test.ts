import { expect, test } from "vitest";
import { mayRepositorySet } from "./repository-variables.ts";

/** Those that choose programs, load code or pass options, as far as anybody has thought of them. */
const steering =
  "LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES PATH NODE_OPTIONS NODE_PATH npm_config_script_shell NPM_CONFIG_NODE_OPTIONS GIT_DIR GIT_SSH_COMMAND PYTHONPATH PYTHONSTARTUP PYTHONHOME PYTEST_ADDOPTS PYTEST_PLUGINS RUBYOPT PERL5OPT BASH_ENV ENV IFS JAVA_TOOL_OPTIONS MAKEFLAGS MAKEFILES GOFLAGS GOTOOLCHAIN RUSTC_WRAPPER RUSTUP_TOOLCHAIN CARGO_BUILD_RUSTC HOME TMPDIR SHELL HTTPS_PROXY COREPACK_ROOT VOLTA_HOME ASDF_NODEJS_VERSION PYENV_VERSION RBENV_VERSION NVM_BIN FNM_DIR MISE_NODE_VERSION SDKMAN_DIR DOTNET_ROOT DOTNET_STARTUP_HOOKS ZDOTDIR CC CXX AR LINKER TSX_TSCONFIG_PATH ELIXIR_ERL_OPTIONS VIRTUAL_ENV CONDA_PREFIX HOMEBREW_PREFIX EMACS TEST_RUNNER ci Path";

test.each(steering.split(" "))(
  "%s could choose what judges, so a project's config may not set it",
  (name) => {
    expect(mayRepositorySet(name)).toBe(false);
  },
);

test("a name that nobody has thought of may not be set either, unless its user allows it", () => {
  expect(mayRepositorySet("NEXT_YEARS_TOOLCHAIN")).toBe(false);
  expect(mayRepositorySet("NEXT_YEARS_TOOLCHAIN", ["NEXT_YEARS_TOOLCHAIN"])).toBe(true);
  expect(mayRepositorySet("SHOP_MODE", ["SHOP_*"])).toBe(true);
  expect(mayRepositorySet("SHOPPING", ["SHOP_*", "SHOP"])).toBe(false);
  expect(mayRepositorySet("PATH", ["*"])).toBe(false);
});

test.each([
  "CI",
  "NO_COLOR",
  "FORCE_COLOR",
  "TERM",
  "TZ",
  "LC_ALL",
  "DATABASE_URL",
  "RAILS_ENV",
  "DJANGO_SETTINGS_MODULE",
  "APP_ENV",
  "APP_GREETING",
  "LOG_LEVEL",
  "NODE_ENV",
])("%s is the project's own affair", (name) => {
  expect(mayRepositorySet(name)).toBe(true);
});
