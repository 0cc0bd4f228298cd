// export: command-line specs of `export` and `export otel`, which sends a run's trace to an
// OpenTelemetry collector.

import { omitUndefined } from "../../../../kit/omit-undefined.ts";
import type { Command } from "../../spec.ts";

const otel: Command = {
  name: "export otel",
  summary: "Send the trace of a run to an OpenTelemetry collector (OTLP/HTTP, JSON).",
  usage: "[RUN] [--endpoint URL | --file FILE]",
  details: [
    "The trace comes from the journal, so it can be sent at any time and as often as you like: its ids follow from the run's own.",
    "Where to: --endpoint, OTEL_EXPORTER_OTLP_ENDPOINT, otel.endpoint in your config, http://localhost:4318. `otel: { export: true }` in your own config sends it while a run works. See docs/TELEMETRY.md.",
  ],
  arguments: [{ name: "RUN", about: "a run's id", isOptional: true }],
  flags: [
    {
      name: "endpoint",
      kind: "text",
      placeholder: "URL",
      about: "The collector's address; /v1/traces is added.",
    },
    {
      name: "file",
      kind: "text",
      placeholder: "FILE",
      excludes: "endpoint",
      about: "Write the trace to a new file instead of sending it.",
    },
  ],
  takesRun: true,
  run: async (context, input) =>
    (await import("../../../../commands/outbound/export-otel.ts")).exportOtel(
      context,
      omitUndefined({
        run: input.words[0] ?? input.run,
        endpoint: input.text("endpoint"),
        file: input.text("file"),
      }),
    ),
};

export const exportCommands: readonly Command[] = [
  {
    ...otel,
    name: "export",
    summary: "Hand a run on to other tools.",
    usage: "[otel [RUN]] [--endpoint URL | --file FILE]",
    details: ["Alone it means `autopilot export otel`."],
    arguments: [],
  },
  otel,
];
