// model: stands for a model provider on one machine's loopback. It answers every call and notes when it came, on which machine, and for what.
import { appendFileSync } from "node:fs";
import { createServer } from "node:http";

const [port, log, host] = process.argv.slice(2);
createServer((request, response) => {
  let text = "";
  request.on("data", (chunk) => (text += chunk));
  request.on("end", () => {
    const about = /make (c\d+)/.exec(text)?.[1] ?? null;
    appendFileSync(log, `${JSON.stringify({ at: Date.now(), host, about })}\n`);
    response.writeHead(200, { "content-type": "application/json" });
    response.end(
      JSON.stringify({
        id: "msg",
        type: "message",
        role: "assistant",
        model: "claude-opus-5",
        content: [{ type: "text", text: "go on" }],
        stop_reason: "end_turn",
        usage: { input_tokens: 10, output_tokens: 5 },
      }),
    );
  });
}).listen(Number(port), "127.0.0.1");
