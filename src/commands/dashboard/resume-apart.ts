// resume-apart: resumes a run in a separate process, as `autopilot resume` in a terminal would: it
// outlives its caller.

import { spawn } from "node:child_process";
import type { CommandResponse } from "../../contracts/command-response.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { respond } from "../../project/respond.ts";

export type ResumeApart = (context: CommandContext, run: string) => Promise<CommandResponse>;

const refusalWaitMs = 2_500;
const outputCharsMax = 200_000;

/**
 * `program`: the command line of this program. The response is a refusal if the process ends soon
 * with one; otherwise it says that the run goes on, and the process keeps running.
 */
export const createResumeApart =
  (program: readonly string[]): ResumeApart =>
  (context, run) =>
    new Promise((resolve) => {
      const [file = "", ...args] = program;
      const child = spawn(file, [...args, "resume", "--run", run, "--json"], {
        cwd: context.cwd,
        env: context.env,
        detached: true, // it must not end with us, nor with our terminal
        stdio: ["ignore", "pipe", "ignore"],
      });

      let output = "";
      child.stdout
        .setEncoding("utf8")
        .on("data", (text: string) => (output += output.length < outputCharsMax ? text : ""));

      const refusalTimer = setTimeout(() => {
        child.unref();
        child.stdout.destroy();
        resolve(
          respond("operator_resumed", {
            result: "PASS",
            run_id: run,
            message: `${run} goes on, in process ${child.pid ?? "?"}.`,
          }),
        );
      }, refusalWaitMs);

      child.once("error", (error) => {
        clearTimeout(refusalTimer);
        resolve(
          respond("internal_error", {
            run_id: run,
            message: `It could not be started: ${error.message}`,
            remediation: [`autopilot resume --run ${run}`],
          }),
        );
      });

      child.once("close", () => {
        clearTimeout(refusalTimer);
        resolve(parseResponse(output, run));
      });
    });

function parseResponse(output: string, run: string): CommandResponse {
  try {
    return JSON.parse(output) as CommandResponse;
  } catch {
    return respond("internal_error", {
      run_id: run,
      message: "It ended without an answer.",
      remediation: [`autopilot resume --run ${run}`],
    });
  }
}
