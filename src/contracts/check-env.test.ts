import { expect, test } from "vitest";
import { maySteerChecks } from "./check-env.ts";

const steering =
  "LD_PRELOAD LD_LIBRARY_PATH DYLD_INSERT_LIBRARIES PATH NODE_OPTIONS NODE_PATH npm_config_script_shell GIT_DIR GIT_SSH_COMMAND PYTHONPATH PYTHONSTARTUP PYTEST_ADDOPTS RUBYOPT PERL5OPT BASH_ENV ENV IFS JAVA_TOOL_OPTIONS MAKEFLAGS MAKEFILES GOFLAGS RUSTC_WRAPPER CARGO_BUILD_RUSTC HOME TMPDIR SHELL HTTPS_PROXY";

test.each(steering.split(" "))("%s steers the tools that judge, so a project's config may not set it", (name) => {
  expect(maySteerChecks(name)).toBe(true);
});

test.each([
  "CI",
  "NO_COLOR",
  "FORCE_COLOR",
  "TERM",
  "TZ",
  "DATABASE_URL",
  "RAILS_ENV",
  "DJANGO_SETTINGS_MODULE",
  "APP_ENV",
  "LOG_LEVEL",
  "NODE_ENV",
])("%s is the project's own affair", (name) => {
  expect(maySteerChecks(name)).toBe(false);
});
