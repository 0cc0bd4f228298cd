// serve: starts the dashboard for the command's folder, and keeps it running until it is
// interrupted.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { CommandResponse } from "../../contracts/command-response.ts";
import { dashboardPortDefault } from "../../contracts/config-defaults.ts";
import { openFacts } from "../../commands/dashboard/facts.ts";
import { createResumeApart } from "../../commands/dashboard/resume-apart.ts";
import { invariant } from "../../kit/invariant.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { isBelowRun } from "../../project/inside-run.ts";
import { catchRefusals, refuse, respond } from "../../project/respond.ts";
import { buildAssets } from "./assets.ts";
import { createToken } from "./guards.ts";
import { type Dashboard, type DashboardSettings, serveDashboard } from "./server.ts";
import { openUnlock } from "./unlock.ts";

/** A browser has opened the file by then. */
const linkLifetimeMs = 30_000;

export type DashboardInput = { readonly port?: number | undefined; readonly open: boolean };

/**
 * Serves the dashboard on loopback until the person at the terminal ends it. Runs go on without it.
 */
export function dashboard(
  context: CommandContext,
  input: DashboardInput,
  script: () => string = readClientScript,
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    if (isBelowRun(context)) refuse("inside_a_run");
    const token = createToken();
    const unlock = openUnlock();
    const facts = openFacts(context);
    const program = [process.execPath, process.argv[1] ?? ""];

    const settings = {
      context,
      facts,
      token,
      unlock,
      assets: buildAssets(script()),
      resumeApart: createResumeApart(program),
    };
    const server = await listenOnFreePort(settings, input.port);
    const address = `http://127.0.0.1:${server.port}/#${token}`;
    const readOnlyReason = await facts.findReadOnlyReason();
    context.show(`Dashboard  ${address}`);
    context.show(
      `Code       ${unlock.code}   the page asks for it before it may act while a run works at isolation none or clone${readOnlyReason === null ? "" : ` (${readOnlyReason})`}`,
    );

    context.show("Only this machine can reach it. Ctrl-C ends it; runs go on without it.");
    const deleteLink = input.open ? openBrowser(address, context) : () => undefined;
    await waitForInterrupt(context.interrupted);
    deleteLink();
    await server.close();

    return respond("ok", {
      message: "The dashboard is closed; its link no longer opens anything.",
      data: { port: server.port },
    });
  });
}

/**
 * Without a requested port: the default one, or any free one if that is taken. A requested port
 * that is taken is refused.
 */
async function listenOnFreePort(
  settings: DashboardSettings,
  requestedPort: number | undefined,
): Promise<Dashboard> {
  try {
    return await serveDashboard(settings, requestedPort ?? dashboardPortDefault);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "EADDRINUSE" && code !== "EACCES") throw error;
    if (requestedPort === undefined) return serveDashboard(settings, 0);

    return refuse("port_taken", {
      message:
        code === "EACCES"
          ? `Port ${requestedPort} needs more rights than you have.`
          : `Something else listens on port ${requestedPort} already.`,
      remediation: [
        "autopilot dashboard takes a free port",
        `autopilot dashboard --port ${requestedPort + 1}`,
      ],
      data: { port: requestedPort },
    });
  }
}

/** The page's script: beside us once bundled, in dist when run from source. */
function readClientScript(): string {
  const ownFolder = dirname(fileURLToPath(import.meta.url));
  const name = "dashboard-client.cjs";
  const scriptPath = [join(ownFolder, name), join(ownFolder, "..", "..", "..", "dist", name)].find(
    (path) => existsSync(path),
  );
  invariant(
    scriptPath !== undefined,
    `${name} is shipped with the product (npm run build makes it)`,
  );

  return readFileSync(scriptPath, "utf8");
}

/**
 * Everybody on the machine can read a process's arguments, so the browser is given a private file
 * that redirects to the address.
 */
function openBrowser(address: string, context: CommandContext): () => void {
  const folder = mkdtempSync(join(tmpdir(), "autopilot-link-")); // 0700
  const file = join(folder, "dashboard.html");
  writeFileSync(
    file,
    `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=${address}"><title>autopilot</title>`,
    { mode: 0o600 },
  );

  const deleteLink = (): void => rmSync(folder, { recursive: true, force: true });
  const opener = process.platform === "darwin" ? "open" : "xdg-open";
  const child = spawn(opener, [`file://${file}`], { stdio: "ignore", detached: true });
  child.on("error", () =>
    context.show(`! ${opener} is not here: open the address above yourself.`),
  );

  child.unref();
  setTimeout(deleteLink, linkLifetimeMs).unref();
  return deleteLink;
}

const waitForInterrupt = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
