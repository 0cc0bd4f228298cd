// Takes the pictures of docs/DASHBOARD.md: three pages, at 1440, 768 and 320 px, light and dark, of runs that the embedded agent makes in a
// scratch repository.   npm run build && node scripts/dashboard-pictures.mjs
// They are for looking at, not for comparing: times and names in them differ each time.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { chromium } from "playwright-core";

const root = resolve(import.meta.dirname, "..");
const program = join(root, "dist/autopilot.cjs");
const room = mkdtempSync(join(tmpdir(), "autopilot-pictures-"));
const [shop, home] = [join(room, "shop"), join(room, "home")];
const env = { PATH: process.env.PATH, HOME: home, USER: "you", LANG: "C.UTF-8" };
const pictures = [
  { page: "run", width: 1440, height: 900, scale: 0.6 },
  { page: "now", width: 768, height: 900, scale: 0.6 },
  { page: "inbox", width: 320, height: 640, scale: 1 },
];

const goals = [
  [
    "write sum so that the shop can add two prices",
    "sum adds :: test -f src/sum.js",
    [
      { write: { path: "src/sum.js", text: "export const sum = (a, b) => a + b;\n" } },
      { usage: { input: 12_900, output: 2_100, usd: 0.31 } },
      { say: "sum is written. <promise>DONE</promise>" },
    ],
  ],
  [
    "keep prices in cents",
    "cents are there :: test -f src/cents.js",
    [
      { write: { path: "src/price.js", text: "export const price = 119;\n" } },
      { usage: { input: 900, output: 210, usd: 0.02 } },
      {
        ask: {
          question:
            "Prices are floats today. Should cents be whole numbers, which changes the public interface?",
          options: ["Whole cents, and say so in the changelog", "Keep floats"],
        },
      },
    ],
  ],
];

try {
  mkdirSync(join(shop, "src"), { recursive: true });
  mkdirSync(home);
  writeFileSync(join(shop, "README.md"), "# Shop\n");
  for (const words of [
    ["init", "-q", "-b", "main"],
    ["add", "-A"],
    ["commit", "-q", "-m", "start"],
  ])
    execFileSync("git", ["-c", "user.name=You", "-c", "user.email=you@example.invalid", ...words], {
      cwd: shop,
      env,
    });
  for (const [at, [goal, criterion, actions]] of goals.entries()) {
    const script = join(room, `${at}.json`);
    writeFileSync(script, JSON.stringify({ turns: [{ do: actions }] }));
    const words = [
      "go",
      goal,
      "--new",
      "--yes",
      "--isolation",
      "auto",
      "--agent",
      `scripted:${script}`,
      "--done-criteria",
      criterion,
    ];
    spawnSync(process.execPath, [program, ...words], { cwd: shop, env });
  }
  await photographed();
} finally {
  rmSync(room, { recursive: true, force: true });
}

async function photographed() {
  const server = spawn(process.execPath, [program, "dashboard"], {
    cwd: shop,
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const browser = await chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: ["--headless", "--no-sandbox", "--disable-gpu"],
  });
  try {
    let shown = "";
    server.stderr.on("data", (chunk) => (shown += chunk));
    const address = async () => {
      for (;;) {
        const [found] = /http:\/\/127\.0\.0\.1:\d+\/#\S+/.exec(shown) ?? [];
        if (found !== undefined) return found;
        if (server.exitCode !== null) throw new Error(`the dashboard did not start: ${shown}`);
        await wait(50);
      }
    };
    const url = await address();
    for (const { page: name, width, height, scale } of pictures)
      for (const scheme of ["light", "dark"]) {
        const context = await browser.newContext({
          viewport: { width, height },
          deviceScaleFactor: scale,
          colorScheme: scheme,
        });
        const page = await context.newPage();
        await page.goto(url);
        await page.locator("main h1").waitFor();
        await page.evaluate(`location.hash = "#${name}"`);
        await wait(1_500);
        const path = join(root, "docs/pictures", `${name}-${width}-${scheme}.jpg`);
        await page.screenshot({ path, type: "jpeg", quality: 60 });
        await context.close();
      }
  } finally {
    await browser.close();
    server.kill("SIGINT");
  }
}
