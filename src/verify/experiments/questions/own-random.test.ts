import { describe, expect, test } from "vitest";
import { isolateRandom } from "./own-random.ts";

describe("tests with a chance of their own", () => {
  test.each([
    [
      "import random\nn = random.randrange(5)\n",
      "import random; random = random.Random()\nn = random.randrange(5)\n",
    ],
    [
      "from random import choice, randint\n",
      "from random import Random as _Own; _own = _Own(); choice, randint = _own.choice, _own.randint\n",
    ],
    ["import random\nrandom.seed(1)\n", null],
    ["import math\n", null],
  ])("%s", (text, wanted) => expect(isolateRandom("test_a.py", text)).toBe(wanted));
});
