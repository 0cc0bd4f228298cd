// runner-tools: lets the embedded agent call the runner's tools: it starts the server that the
// session names, as every agent does.

/** Calls a tool; returns its text, and rejects with it if the tool failed. */
export type CallRunner = (tool: string, value: unknown) => Promise<string>;

type Server = {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
};
type Answer = {
  readonly result?: {
    readonly content?: readonly { readonly text?: string }[];
    readonly isError?: boolean;
  };
  readonly error?: { readonly message: string };
};

const answerTimeoutMs = 30_000;
const protocolVersion = "2025-06-18";

/** The server is started with the first call, and runs until the agent exits. */
export function openRunnerTools(server: Server | undefined): CallRunner {
  let serverStart: Promise<(method: string, params: object) => Promise<Answer>> | null = null;
  return async (tool, value) => {
    if (server === undefined) throw new Error("the runner offers no tools");
    const request = await (serverStart ??= startServer(server));
    const { result, error } = await request("tools/call", { name: tool, arguments: value });
    const text =
      error?.message ?? (result?.content ?? []).map((part) => part.text ?? "").join("\n");
    if (error !== undefined || result?.isError === true) throw new Error(text);

    return text;
  };
}

async function startServer({
  command,
  args,
  env,
}: Server): Promise<(method: string, params: object) => Promise<Answer>> {
  const [{ spawn }, { createInterface }] = await Promise.all([
    import("node:child_process"),
    import("node:readline"),
  ]); // most turns call no tool

  const serverEnv = Object.fromEntries(env.map(({ name, value }) => [name, value]));
  const child = spawn(command, args, {
    env: { ...process.env, ...serverEnv },
    stdio: ["pipe", "pipe", "ignore"],
  });

  const pending = new Map<
    number,
    { readonly resolve: (answer: Answer) => void; readonly reject: (error: Error) => void }
  >();

  const fail = (why: string): void => {
    for (const { reject } of pending.values()) reject(new Error(why));
    pending.clear();
  };
  child.once("error", (error) => fail(error.message));
  child.once("exit", () => fail("the server of the runner's tools ended"));
  child.stdin.on("error", () => undefined);
  child.unref();
  createInterface({ input: child.stdout }).on("line", (line) => {
    const answer = JSON.parse(line) as Answer & { readonly id?: number };
    if (answer.id === undefined) return;
    pending.get(answer.id)?.resolve(answer);
    pending.delete(answer.id);
  });

  const send = (message: object): void =>
    void child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  let lastId = 0;

  const request = (method: string, params: object): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const id = (lastId += 1);
      const timer = setTimeout(
        () => reject(new Error(`the server of the runner's tools did not answer ${method}`)),
        answerTimeoutMs,
      );
      const stopTimer = (): void => clearTimeout(timer);
      pending.set(id, {
        resolve: (answer) => (stopTimer(), resolve(answer)),
        reject: (error) => (stopTimer(), reject(error)),
      });

      send({ id, method, params });
    });
  await request("initialize", {
    protocolVersion,
    capabilities: {},
    clientInfo: { name: "scripted", version: "1" },
  });

  send({ method: "notifications/initialized" });
  return request;
}
