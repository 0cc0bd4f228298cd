// resume-apart: resumes a run in a separate process, as `autopilot resume` in a terminal would: it outlives its caller.

import { spawn } from "node:child_process";
import type { CommandResponse } from "../../contracts/command-response.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { respond } from "../../project/respond.ts";

export type ResumeApart = (context: CommandContext, run: string) => Promise<CommandResponse>;

const refusedWithinMs = 2_500;
const outputCharsMax = 200_000;

/** `program`: the command line of this program. An immediate refusal is returned; otherwise it keeps running. */
export const resumeApart =
  (program: readonly string[]): ResumeApart =>
  (context, run) =>
    new Promise((resolve) => {
      const [file = "", ...words] = program;
      const child = spawn(file, [...words, "resume", "--run", run, "--json"], {
        cwd: context.cwd,
        env: context.env,
        detached: true, // it must not end with us, nor with our terminal
        stdio: ["ignore", "pipe", "ignore"],
      });
      let out = "";
      child.stdout.setEncoding("utf8").on("data", (text: string) => (out += out.length < outputCharsMax ? text : ""));
      const refusalTimer = setTimeout(() => {
        child.unref();
        child.stdout.destroy();
        resolve(respond("operator_resumed", { result: "PASS", run_id: run, message: `${run} goes on, in process ${child.pid ?? "?"}.` }));
      }, refusedWithinMs);
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
        resolve(parseAnswer(out, run));
      });
    });

function parseAnswer(out: string, run: string): CommandResponse {
  try {
    return JSON.parse(out) as CommandResponse;
  } catch {
    return respond("internal_error", {
      run_id: run,
      message: "It ended without an answer.",
      remediation: [`autopilot resume --run ${run}`],
    });
  }
}
