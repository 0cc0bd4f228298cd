// python-recorder: adds to a Python module's source a wrapper around each wanted function, which
// records its answers to the tests' inputs and to inputs near them (format: near-records.ts).
// Generates text only.

import { callsMax, type Recorder } from "./recorder.ts";
import { numberSteps } from "./near-inputs.ts";

export const recordPython: Recorder = ({ files, isWanted, near, uniqueName }) => {
  const recorded = files.flatMap(({ path, text }) => {
    const names = [...text.matchAll(/^def (\w+)\(/gm)]
      .map(([, name = ""]) => name)
      .filter(isWanted);
    if (names.length === 0) return [];
    return [
      { edit: { path, text: `${text}\n\n${createRecorder(uniqueName, names, near)}` }, names },
    ];
  });

  return {
    edits: recorded.map(({ edit }) => edit),
    functions: recorded.flatMap(({ names }) => names),
  };
};

/**
 * The source of the recorder. In it:
 * - the answer "" means that there is none, as after an error, and "''" an empty text;
 * - a number is made smaller only if it is more than 1: zero and negative numbers are often not
 *   allowed;
 * - of a list only the first and the last element are varied: that shows whether elements matter,
 *   at few calls;
 * - calls made by the recorder itself are not recorded (`busy`).
 */
const createRecorder = (
  uniqueName: string,
  names: readonly string[],
  near: ReadonlyMap<string, readonly string[]>,
): string => `
def ${uniqueName}(names):
    import functools, inspect, os
    texts = ${JSON.stringify(Object.fromEntries(near))}
    path, busy, seen = os.environ.get("${uniqueName}", ""), [], set()
    def is_plain(v):
        if type(v) in (list, tuple):
            return all(is_plain(member) for member in v)
        if type(v) is dict:
            return all(is_plain(key) and is_plain(member) for key, member in v.items())
        return v is None or type(v) in (str, int, float, bool)
    def one_line(v):
        text = v if type(v) is str else repr(v)
        return text.replace("\\t", " ").replace("\\n", " ").replace("\\r", " ")
    def copy(v):
        if type(v) in (list, tuple):
            return type(v)(copy(member) for member in v)
        return dict(v) if type(v) is dict else v
    def near_values(v):
        if type(v) is str:
            return texts.get(v, [])
        if type(v) in (int, float):
            return [v + step for step in (${numberSteps.join(", ")}) if step > 0 or v > 1]
        if type(v) in (list, tuple) and len(v) > 0:
            ends = {0, len(v) - 1}
            divided = []
            if all(type(member) in (int, float) for member in v):
                for by in (10, 100):
                    divided.append(type(v)(m // by if type(m) is int else m / by for m in v))
            return divided + [
                type(v)([*v[:index], near_value, *v[index + 1:]])
                for index in ends for near_value in near_values(v[index])
            ]
        return []
    def answer(f, args, named):
        try:
            result = f(*[copy(arg) for arg in args], **named)
            if inspect.isawaitable(result) or inspect.isgenerator(result):
                return ""
            return "" if result is None or result != result else one_line(result) or "''"
        except (Exception, SystemExit):
            return ""
    def key(args, named):
        return "\\x1f".join(one_line(value) for value in [*args, *named.values()])
    def write_record(*words):
        with open(path, "a") as file:
            file.write("\\t".join(str(word) for word in words) + "\\n")
    def ask(name, f, args, named):
        tested = key(args, named)
        values = [*args, *named.values()]
        if (name, tested) in seen or not all(is_plain(value) for value in values):
            return
        seen.add((name, tested))
        tested_answer = answer(f, args, named)
        write_record(name, 0, "is", tested, tested_answer, "")
        for index, value in enumerate(values if tested_answer else []):
            for near_value in near_values(value):
                changed = [*values[:index], near_value, *values[index + 1:]]
                near_args, near_named = changed[:len(args)], dict(zip(named, changed[len(args):]))
                write_record(name, index, "near", key(near_args, near_named), answer(f, near_args, near_named), tested)
    def wrap(name, f):
        calls = [0]
        @functools.wraps(f)
        def recorded(*args, **named):
            if calls[0] < ${callsMax} and not busy:
                calls[0] += 1
                busy.append(1)
                try:
                    ask(name, f, args, named)
                except Exception:
                    pass
                finally:
                    busy.pop()
            return f(*args, **named)
        return recorded
    for name in names if path else []:
        if inspect.isfunction(globals().get(name)):
            globals()[name] = wrap(name, globals()[name])
${uniqueName}(${JSON.stringify(names)})
`;
