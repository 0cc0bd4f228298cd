import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { composeToolchainVariables } from "./confinement.ts";

const home = mkdtempSync(join(tmpdir(), "home-"));
const rustup = mkdtempSync(join(tmpdir(), "rustup-"));
afterEach(() => {
  vi.unstubAllEnvs();
  for (const folder of [home, rustup]) rmSync(folder, { recursive: true, force: true });
});

test("a toolchain is found where the user's variable says, or in the user's home", () => {
  mkdirSync(join(home, ".pyenv"));
  vi.stubEnv("HOME", home);
  vi.stubEnv("RUSTUP_HOME", rustup);
  vi.stubEnv("PYENV_ROOT", undefined);
  vi.stubEnv("VOLTA_HOME", join(home, "gone"));
  expect(composeToolchainVariables({})).toMatchObject({
    RUSTUP_HOME: rustup,
    PYENV_ROOT: join(home, ".pyenv"),
  });
  expect(composeToolchainVariables({})).not.toHaveProperty("VOLTA_HOME");
  expect(composeToolchainVariables({ RUSTUP_HOME: "/given" })).not.toHaveProperty("RUSTUP_HOME");
});
