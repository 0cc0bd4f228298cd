// Draws docs/terminal.svg, the picture in the README: a real run of the built command with the embedded agent, as the terminal shows it.
// node scripts/terminal-picture.mjs
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const folder = mkdtempSync(join(tmpdir(), "autopilot-picture-"));
const files = {
  "package.json": `{ "name": "dates", "version": "1.0.0", "scripts": { "test": "node --test" } }\n`,
  "src/week.js": "exports.week = () => 1;\n",
  "test/week.test.js": `const test = require("node:test");\nconst assert = require("node:assert");\nconst { week } = require("../src/week.js");\n\ntest("a year begins with week 1", () => assert.equal(week("2026-W01"), 1));\n`,
};
const iso = `const test = require("node:test");\nconst assert = require("node:assert");\nconst { week } = require("../src/week.js");\n\ntest("an ISO week", () => assert.equal(week("2026-W07"), 7));\n`;
const script = {
  turns: [
    {
      do: [
        {
          write: {
            path: "src/week.js",
            text: `exports.week = (text) => Number(/-W(\\d+)$/.exec(text)?.[1] ?? 1);\n`,
          },
        },
        { usage: { input: 9000, output: 1200, usd: 0.05 } },
      ],
    },
    {
      do: [
        { write: { path: "test/iso.test.js", text: iso } },
        { say: "Weeks parse, and the test is there. <promise>DONE</promise>" },
        { usage: { input: 11_000, output: 1900, usd: 0.07 } },
      ],
      confidence: 0.9,
    },
  ],
};
const command = [
  "accept ISO weeks in dates",
  "--scope",
  "src/**,test/**",
  "--done-criteria",
  "ISO weeks parse :: node --test test/iso.test.js",
];

try {
  const project = join(folder, "dates");
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(project, path)), { recursive: true });
    writeFileSync(join(project, path), text);
  }
  writeFileSync(join(folder, "agent.json"), JSON.stringify(script));
  const git = (...args) =>
    execFileSync("git", ["-c", "user.name=You", "-c", "user.email=you@example.org", ...args], {
      cwd: project,
    });
  git("init", "-q", "-b", "main");
  git("add", "-A");
  git("commit", "-q", "-m", "start");
  const autopilot = (...args) => {
    const { stdout, stderr } = spawnSync(
      process.execPath,
      [join(root, "dist/autopilot.cjs"), ...args],
      { cwd: project, encoding: "utf8" },
    );
    return `${stderr}${stdout}`.trimEnd().split("\n");
  };
  const went = autopilot(
    ...command,
    "--agent",
    `scripted:${join(folder, "agent.json")}`,
    "--yes",
  ).filter((line) => /^[·✓✗!]/u.test(line));
  const quoted = command.map((word) => (/[\s*]/.test(word) ? `"${word}"` : word)).join(" ");
  const lines = [
    `$ autopilot ${quoted}`,
    ...went.filter((line) => !line.startsWith("! Defaults")),
    "",
    "$ autopilot report",
    ...autopilot("report"),
  ];
  writeFileSync(
    join(root, "docs/terminal.svg"),
    pictureOf(lines.flatMap((line) => broken(line, 108))),
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** A line as the terminal would break it. */
function broken(line, columns) {
  const pieces = [];
  for (let rest = line; rest !== "" || pieces.length === 0; rest = rest.slice(columns))
    pieces.push(rest.slice(0, columns));
  return pieces;
}

function pictureOf(lines) {
  const [advance, height, margin] = [7.8, 19, 18];
  const width = Math.ceil(Math.max(...lines.map((line) => line.length)) * advance + 2 * margin);
  const rows = lines.map(
    (line, at) =>
      `<text x="${margin}" y="${54 + at * height}" xml:space="preserve">${coloured(line)}</text>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${58 + lines.length * height}" role="img" aria-label="A run of autopilot in a terminal">`,
    `<rect width="100%" height="100%" rx="8" fill="#14171c"/>`,
    ...["#ec6a5e", "#f4bf4f", "#61c554"].map(
      (fill, at) => `<circle cx="${22 + at * 20}" cy="20" r="6" fill="${fill}"/>`,
    ),
    `<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="13" fill="#d7dae0">`,
    ...rows,
    `</g>`,
    `</svg>`,
    "",
  ].join("\n");
}

function coloured(line) {
  const text = line.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  if (line.startsWith("$ "))
    return `<tspan fill="#8b93a1">$</tspan> <tspan font-weight="bold">${text.slice(2)}</tspan>`;
  const colours = {
    "✓": "#61c554",
    "✗": "#ec6a5e",
    "!": "#f4bf4f",
    "→": "#6cb6ff",
    "·": "#8b93a1",
  };
  return text.replace(
    /^(\s*)([✓✗!→·])/u,
    (_, indent, mark) => `${indent}<tspan fill="${colours[mark]}">${mark}</tspan>`,
  );
}
