// Everything that must hold before a commit, side by side: types, lint, format, and the fast tests (the law of the house among them).
import { spawn } from "node:child_process";

const parts = [
  ["types", "tsc", ["-p", "tsconfig.json"]],
  ["types of the browser's part", "tsc", ["-p", "src/surfaces/dashboard/client/tsconfig.json"]],
  [
    "lint",
    "oxlint",
    ["--type-aware", "--quiet", "--ignore-pattern", "**/*.mjs", "src", "test", "bench"],
  ],
  ["format", "oxfmt", ["--check", "src", "test", "bench", "scripts"]],
  ["tests", "node", ["scripts/vitest.mjs", "run", "--project", "fast"]],
];

const env = {
  ...process.env,
  PATH: `node_modules/.bin:${process.env.PATH}`,
  NODE_EXTRA_CA_CERTS: undefined,
  GOGC: "off",
  GOMEMLIMIT: "3GiB",
}; // the compiler and the linter end before they need the memory they could collect: a fifth less computing
const results = await Promise.all(
  parts.map(
    ([name, command, args]) =>
      new Promise((resolve) => {
        const began = performance.now();
        const child = spawn(command, args, { env, stdio: ["ignore", "pipe", "pipe"] });
        let output = "";
        child.stdout.on("data", (chunk) => (output += chunk));
        child.stderr.on("data", (chunk) => (output += chunk));
        child.on("close", (code) =>
          resolve({ name, code, output, seconds: (performance.now() - began) / 1000 }),
        );
        child.on("error", (error) => resolve({ name, code: 1, output: String(error), seconds: 0 }));
      }),
  ),
);
for (const { name, code, output, seconds } of results) {
  process.stdout.write(`${code === 0 ? "ok  " : "FAIL"} ${name} (${seconds.toFixed(1)} s)\n`);
  if (code !== 0) process.stdout.write(`${output}\n`);
}
process.exit(results.every(({ code }) => code === 0) ? 0 : 1);
