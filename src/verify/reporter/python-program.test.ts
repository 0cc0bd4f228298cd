import { expect, test } from "vitest";
import { buildPythonProgram } from "./python-program.ts";

test("paths and keys are filled in as they are, whatever signs they hold", () => {
  const program = buildPythonProgram({
    folder: "/tmp/$&",
    pipe: "/tmp/$`",
    nonce: "$'",
    key: "$$",
  });

  expect(program).toContain(
    `folder, channel, nonce, key = "/tmp/$&/py", "/tmp/$\`", "$'", "$$".encode()`,
  );
});
