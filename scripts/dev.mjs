// A developer's loop: types in watch mode beside the fast tests that have to do with what was changed since the last commit and is changed
// from now on. `npm run dev -- src/core` looks at some tests only. Ctrl-C ends both; a test watcher that ends takes the other with it.
import { spawn } from "node:child_process";

const env = {
  ...process.env,
  PATH: `node_modules/.bin:${process.env.PATH}`,
  NODE_EXTRA_CA_CERTS: undefined,
};
const types = spawn("tsc", ["-p", "tsconfig.json", "--watch", "--preserveWatchOutput"], {
  env,
  stdio: ["ignore", "pipe", "inherit"],
});
types.stdout.setEncoding("utf8").on("data", (text) => {
  for (const line of text.split("\n").filter((one) => one.trim() !== ""))
    process.stdout.write(`types  ${line}\n`);
});
const only = process.argv.slice(2);
const tests = spawn(
  "vitest",
  [
    "watch",
    "--project",
    "fast",
    "--clearScreen=false",
    ...(only.length > 0 ? only : ["--changed"]),
  ],
  {
    env,
    stdio: "inherit",
  },
);
tests.on("close", (code) => {
  types.kill();
  process.exit(code ?? 1);
});
types.on("error", (error) => process.stdout.write(`types  ${error.message}\n`));
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => tests.kill(signal));
