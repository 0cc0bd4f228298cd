// Installs the coding agents that the tests drive, each at the one version that was tried, into a cache folder:
//   node scripts/agents.mjs [NAME...]        into $AUTOPILOT_AGENTS_CACHE, or ~/.cache/autopilot/agents
// Prints a line for each: installed, already there, or not to be had and why. Writes agents.json beside them: what to start.
// No script of a package is run: programs are taken from the platform packages by name.
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

const platform = `${process.platform}-${process.arch}`;
const triple =
  { "linux-x64": "x86_64-unknown-linux-musl", "linux-arm64": "aarch64-unknown-linux-musl" }[
    platform
  ] ?? "unknown";
const installMsMax = 300_000;

/** Some agents want a newer Node than this project; it comes as a package too, with no script. x64 and arm64 are not published in step. */
const newerNode = { "linux-x64": "24.21.0", "linux-arm64": "24.22.0" }[platform];

/**
 * The pins. `programs`: the names they have on a PATH, each with its file in the agent's folder. `acp`: the words that make the first
 * of them speak ACP on stdio; none for a vendor's own command line. `newer`: it runs on the newer Node.
 */
const agents = {
  claude: {
    // Its engines ask for Node 22; on 20 npm unpinned would choose 0.49.0, of another shape. It was seen to run well on 20.20.
    version: "0.99.0",
    packages: ["@agentclientprotocol/claude-agent-acp@0.99.0"],
    programs: { "claude-agent-acp": "@agentclientprotocol/claude-agent-acp/dist/index.js" },
    acp: [],
  },
  codex: {
    version: "2.6.0",
    packages: ["@agentclientprotocol/codex-acp@2.6.0", "@openai/codex@0.166.0"],
    programs: { "codex-acp": "@agentclientprotocol/codex-acp/dist/index.js" },
    acp: [],
  },
  "codex-zed": {
    // The platform package alone: one static program, the smallest agent there is.
    version: "0.16.0",
    packages: [`@zed-industries/codex-acp-${platform}@0.16.0`],
    programs: { "codex-acp": `@zed-industries/codex-acp-${platform}/bin/codex-acp` },
    acp: [],
  },
  opencode: {
    // Later versions of opencode-ai have no arm64 program. The platform package needs no install script.
    version: "1.18.18",
    packages: [`opencode-${platform}@1.18.18`],
    programs: { opencode: `opencode-${platform}/bin/opencode` },
    acp: ["acp"],
  },
  gemini: {
    version: "0.61.0",
    packages: ["@google/gemini-cli@0.61.0"],
    programs: { gemini: "@google/gemini-cli/bundle/gemini.js" },
    acp: ["--acp"],
  },
  copilot: {
    version: "1.0.102",
    packages: [`@github/copilot-${platform}@1.0.102`],
    programs: { copilot: `@github/copilot-${platform}/copilot` },
    acp: ["--acp"],
  },
  qwen: {
    // 0.24 needs Node 22 and twice the memory.
    version: "0.15.10",
    packages: ["@qwen-code/qwen-code@0.15.10"],
    programs: { qwen: "@qwen-code/qwen-code/cli.js" },
    acp: ["--acp"],
  },
  kimi: {
    // It dies at start on Node 20.
    version: "2.1.0",
    packages: ["@moonshot-ai/kimi-code@2.1.0"],
    programs: { kimi: "@moonshot-ai/kimi-code/dist/main.mjs" },
    acp: ["acp"],
    newer: true,
  },
  pi: {
    // pi 1.5.0 names a dependency that was never published; pi-acp hangs with the older @mariozechner/pi-coding-agent.
    version: "0.0.34",
    packages: ["pi-acp@0.0.34", "@earendil-works/pi-coding-agent@0.87.1"],
    programs: {
      "pi-acp": "pi-acp/dist/index.js",
      pi: "@earendil-works/pi-coding-agent/dist/bundle/cli.js",
    },
    acp: [],
    newer: true,
  },
  "claude-cli": {
    version: "2.1.325",
    packages: [`@anthropic-ai/claude-code-${platform}@2.1.325`],
    programs: { claude: `@anthropic-ai/claude-code-${platform}/claude` },
  },
  "codex-cli": {
    // The same program that codex starts; a folder of its own, so that each is found without the other.
    version: "0.166.0",
    packages: [`@openai/codex@0.166.0-${platform}`],
    programs: { codex: `@openai/codex/vendor/${triple}/bin/codex` },
  },
};

const cache =
  process.env.AUTOPILOT_AGENTS_CACHE ?? join(homedir(), ".cache", "autopilot", "agents");
/** $AUTOPILOT_TEST_AGENTS chooses for the tests and for what is installed for them. */
const chosen = (process.env.AUTOPILOT_TEST_AGENTS ?? "").split(",").filter((name) => name !== "");
const asked = process.argv.length > 2 ? process.argv.slice(2) : chosen;
const names = asked.length > 0 ? asked : Object.keys(agents);
const manifest = join(cache, "agents.json");
const table = existsSync(manifest) ? JSON.parse(readFileSync(manifest, "utf8")) : {};
mkdirSync(cache, { recursive: true });

let unknown = 0;
for (const name of names) {
  const agent = agents[name];
  if (agent === undefined) {
    console.log(`${name}: not known; the names are ${Object.keys(agents).join(", ")}`);
    unknown += 1;
    continue;
  }
  const before = performance.now();
  const node =
    agent.newer === true
      ? install("node", newerNode ?? "24", [`node-${platform}@${newerNode ?? "24"}`])
      : null;
  const own = install(name, agent.version, agent.packages);
  const why = node?.why ?? own.why ?? linked(own.folder, agent.programs);
  if (why !== undefined) {
    console.log(`${name} ${agent.version}: not to be had: ${why}`);
    delete table[name];
    continue;
  }
  const how = own.isNew
    ? `installed in ${Math.round((performance.now() - before) / 1000)} s`
    : "already there";
  console.log(`${name} ${agent.version}: ${how}`);
  const [program] = Object.keys(agent.programs);
  table[name] = {
    version: agent.version,
    // What must come first on the PATH; every program of it is found there by its name.
    path: [
      join(own.folder, "bin"),
      ...(node === null ? [] : [join(node.folder, `node_modules/node-${platform}/bin`)]),
    ],
    ...(agent.acp === undefined ? {} : { argv: [join(own.folder, "bin", program), ...agent.acp] }),
  };
}
writeFileAtomically(manifest, `${JSON.stringify(table, null, 2)}\n`);
// What is not to be had is no failure: its tests are skipped and say so.
process.exit(unknown === 0 ? 0 : 2);

/** Made beside its place and moved there when it is whole, so that a folder that is there is good. */
function install(name, version, packages) {
  const folder = join(cache, `${name}-${version}`);
  if (existsSync(folder)) return { folder, isNew: false };
  const half = `${folder}.${process.pid}.half`;
  mkdirSync(half, { recursive: true });
  const words = [
    "install",
    "--prefix",
    half,
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--no-save",
    "--no-package-lock",
    "--force",
  ];
  const env = { ...process.env, npm_config_update_notifier: "false" };
  const { status, error, stderr } = spawnSync("npm", [...words, ...packages], {
    cwd: half,
    env,
    encoding: "utf8",
    timeout: installMsMax,
  });
  if (status === 0) {
    try {
      renameSync(half, folder);
    } catch {
      rmSync(half, { recursive: true, force: true }); // Another was quicker.
    }
    return { folder, isNew: true };
  }
  rmSync(half, { recursive: true, force: true });
  const reasons = (stderr ?? "").split("\n").filter((line) => line.startsWith("npm error"));
  return {
    folder,
    isNew: false,
    why: error?.message ?? reasons.slice(0, 2).join(" ").replaceAll("npm error ", ""),
  };
}

/** One folder with all its programs under their usual names; says what is wrong, if anything. */
function linked(folder, programs) {
  mkdirSync(join(folder, "bin"), { recursive: true });
  for (const [name, file] of Object.entries(programs)) {
    const link = join(folder, "bin", name);
    if (!existsSync(join(folder, "node_modules", file))) return `${file} is not in its package`;
    if (!existsSync(link)) symlinkSync(join("..", "node_modules", file), link);
  }
}

function writeFileAtomically(path, text) {
  writeFileSync(`${path}.${process.pid}`, text);
  renameSync(`${path}.${process.pid}`, path);
}
