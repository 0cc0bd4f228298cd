// npm-stand-in: what the npm beside it does not do itself. `npm test` and `npm run NAME` run the script as npm does, in a twentieth of the time
// npm takes to start. Everything else goes to the npm that comes after it on the path.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { delimiter, join } from "node:path";

const words = process.argv.slice(2);
const name =
  words.length === 1 && ["test", "t"].includes(words[0])
    ? "test"
    : words.length === 2 && words[0] === "run"
      ? words[1]
      : "";
const { env } = process;
const path = (env.PATH ?? "").split(delimiter).filter((folder) => folder !== import.meta.dirname);
const project = name === "" ? {} : manifest();
const command = project.scripts?.[name];
const hooks = [`pre${name}`, `post${name}`].filter((hook) => project.scripts?.[hook] !== undefined);
if (typeof command !== "string" || hooks.length > 0)
  leave(spawnSync("npm", words, { stdio: "inherit", env: { ...env, PATH: path.join(delimiter) } }));
process.stdout.write(
  `\n> ${project.name ?? ""}${project.version === undefined ? "" : `@${project.version}`} ${name}\n> ${command}\n\n`,
);
const own = { npm_lifecycle_event: name, npm_lifecycle_script: command, INIT_CWD: process.cwd() };
const bin = [join(process.cwd(), "node_modules", ".bin"), ...path].join(delimiter);
leave(spawnSync("sh", ["-c", command], { stdio: "inherit", env: { ...env, ...own, PATH: bin } }));

function manifest() {
  try {
    return JSON.parse(readFileSync("package.json", "utf8"));
  } catch {
    return {};
  }
}

function leave({ status, signal }) {
  if (signal !== null) process.kill(process.pid, signal);
  process.exit(status ?? 1);
}
