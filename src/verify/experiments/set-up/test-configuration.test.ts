import { describe, expect, test } from "vitest";
import { restoreConfiguration } from "./test-configuration.ts";

type Files = Readonly<Record<string, string>>;
const asked = (settings: readonly string[], changed: readonly string[], files: Files) =>
  restoreConfiguration(
    settings,
    new Set(changed),
    {
      exists: (path) => path in files,
      textOf: async (path) => files[path] ?? null,
      isTest: (path) => path.startsWith("test/"),
    },
    "n1",
  );

describe("what sets up tests, as it was", () => {
  test("a helper that a config imports, through another", async () => {
    const files = {
      "vitest.config.ts":
        'import { alias } from "./build/alias.js";\nexport default { test: { alias } };\n',
      "build/alias.js": 'import { paths } from "./paths";\nexport const alias = paths;\n',
      "build/paths.js": "export const paths = {};\n",
    };
    expect(await asked(["vitest.config.ts"], ["build/paths.js"], files)).toEqual({
      paths: ["build/paths.js"],
      loaders: ["vitest.config.ts", "build/alias.js"],
      edits: [
        {
          path: "vitest.config.ts",
          text: files["vitest.config.ts"].replace("alias.js", "alias_n1.js"),
        },
        {
          path: "build/alias_n1.js",
          text: files["build/alias.js"].replace("./paths", "./paths_n1.js"),
        },
        { path: "build/paths_n1.js", text: files["build/paths.js"] },
      ],
    });
  });

  test.each([
    [
      ".mocharc.json",
      '{ "require": ["./tools/hooks.cjs"] }',
      '{ "require": ["./tools/hooks_n1.cjs"] }',
    ],
    [
      "jest.config.js",
      'module.exports = { setupFiles: ["<rootDir>/tools/hooks.cjs"] };',
      'module.exports = { setupFiles: ["<rootDir>/tools/hooks_n1.cjs"] };',
    ],
    [
      "cfg/vitest.config.js",
      'export default { test: { setupFiles: "tools/hooks.cjs" } };',
      'export default { test: { setupFiles: "tools/hooks_n1.cjs" } };',
    ],
  ])("a file that %s names", async (path, is, other) => {
    const found = await asked([path], ["tools/hooks.cjs"], {
      [path]: is,
      "tools/hooks.cjs": "0;\n",
    });
    expect(found).toEqual({
      paths: ["tools/hooks.cjs"],
      loaders: [path],
      edits: [
        { path, text: other },
        { path: "tools/hooks_n1.cjs", text: "0;\n" },
      ],
    });
  });

  test("a helper of a test that a runner may load by itself, too", async () => {
    const files = {
      ".mocharc.json": '{ "require": "./test/setup.js" }\n',
      "test/setup.js": 'require("../kit/hooks.js");\n',
      "kit/hooks.js": "",
    };
    expect((await asked([".mocharc.json"], ["kit/hooks.js"], files))?.edits).toEqual([
      { path: "test/setup.js", text: 'require("../kit/hooks_n1.js");\n' },
      { path: "kit/hooks_n1.js", text: "" },
    ]);
  });

  test("a plugin of pytest, but not the code under test", async () => {
    const files = {
      "conftest.py":
        'from app import make\nfrom app.more import other\n\npytest_plugins = ["kit.plug"]\n',
      "app.py": "def make():\n    return 1\n",
      "kit/plug.py": "import pytest\n\n\n@pytest.fixture\ndef one():\n    return 1\n",
    };
    const found = await asked(["conftest.py"], ["app.py", "kit/plug.py"], files);
    expect(found?.paths).toEqual(["kit/plug.py"]);
    expect(found?.edits[0]?.text).toBe(
      'from app import make\nfrom app.more import other\n\npytest_plugins = ["kit.plug_n1"]\n',
    );

    expect(
      await asked(["pytest.ini"], ["kit/plug.py"], {
        ...files,
        "pytest.ini": "[pytest]\naddopts = -p kit.plug -q\n",
      }),
    ).toMatchObject({
      edits: [
        { path: "pytest.ini", text: "[pytest]\naddopts = -p kit.plug_n1 -q\n" },
        { path: "kit/plug_n1.py" },
      ],
    });
  });

  test("a helper that was empty before the work", async () => {
    const files = { "vitest.config.js": 'import "./hooks.js";\n', "hooks.js": "" };
    expect(await asked(["vitest.config.js"], ["hooks.js"], files)).toEqual({
      paths: ["hooks.js"],
      loaders: ["vitest.config.js"],
      edits: [
        { path: "vitest.config.js", text: 'import "./hooks_n1.js";\n' },
        { path: "hooks_n1.js", text: "" },
      ],
    });
  });

  test("nothing if the settings lead to nothing that was changed", async () => {
    const files = { "vitest.config.js": 'import "./a.js";\n', "a.js": "", "src/b.js": "" };
    expect(await asked(["vitest.config.js"], ["src/b.js"], files)).toBeNull();
  });
});
