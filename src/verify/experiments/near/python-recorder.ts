// python-recorder: adds to a Python module's source a wrapper around each wanted function, which records its answers to the tests' inputs
// and to inputs near them (format: near-records.ts). Generates text only.

import { callsMax, type Recorder } from "./recorder.ts";
import { numberSteps } from "./near-inputs.ts";

export const recordPython: Recorder = ({ files, isWanted, near, nonce }) => {
  const found = files.flatMap(({ path, text }) => {
    const names = [...text.matchAll(/^def (\w+)\(/gm)].map(([, name = ""]) => name).filter(isWanted);
    return names.length === 0 ? [] : [{ path, text: `${text}\n\n${recorderSource(nonce, names, near)}`, names }];
  });
  return { edits: found.map(({ path, text }) => ({ path, text })), functions: found.flatMap(({ names }) => names) };
};

/**
 * The source of the recorder. In it:
 * - the answer "" means that there is none, as after an error, and "''" an empty text;
 * - a number is made smaller only if it is more than 1: zero and negative numbers are often not allowed;
 * - of a list only the first and the last element are varied: that shows whether elements matter, at few calls;
 * - calls made by the recorder itself are not recorded (`busy`).
 */
const recorderSource = (variable: string, names: readonly string[], near: ReadonlyMap<string, readonly string[]>): string => `
def ${variable}(names):
    import functools, inspect, os
    texts = ${JSON.stringify(Object.fromEntries(near))}
    path, busy, seen = os.environ.get("${variable}", ""), [], set()
    def is_plain(v):
        if type(v) in (list, tuple):
            return all(is_plain(one) for one in v)
        if type(v) is dict:
            return all(is_plain(one) for pair in v.items() for one in pair)
        return v is None or type(v) in (str, int, float, bool)
    def one_line(v):
        text = v if type(v) is str else repr(v)
        return text.replace("\\t", " ").replace("\\n", " ").replace("\\r", " ")
    def copy(v):
        return type(v)(copy(one) for one in v) if type(v) in (list, tuple) else dict(v) if type(v) is dict else v
    def near_values(v):
        if type(v) is str:
            return texts.get(v, [])
        if type(v) in (int, float):
            return [v + step for step in (${numberSteps.join(", ")}) if step > 0 or v > 1]
        if type(v) in (list, tuple) and len(v) > 0:
            return [type(v)([*v[:at], other, *v[at + 1:]]) for at in {0, len(v) - 1} for other in near_values(v[at])]
        return []
    def answer(f, args, named):
        try:
            result = f(*[copy(one) for one in args], **named)
            if inspect.isawaitable(result) or inspect.isgenerator(result):
                return ""
            return "" if result is None or result != result else one_line(result) or "''"
        except (Exception, SystemExit):
            return ""
    def key(args, named):
        return "\\x1f".join(one_line(one) for one in [*args, *named.values()])
    def write_record(*words):
        with open(path, "a") as file:
            file.write("\\t".join(str(one) for one in words) + "\\n")
    def ask(name, f, args, named):
        asked = key(args, named)
        if (name, asked) in seen or not all(is_plain(one) for one in [*args, *named.values()]):
            return
        seen.add((name, asked))
        tested_answer = answer(f, args, named)
        write_record(name, 0, "is", asked, tested_answer, "")
        for at, one in enumerate([*args, *named.values()] if tested_answer else []):
            for other in near_values(one):
                given = [*args, *named.values()]
                given[at] = other
                now = (given[:len(args)], dict(zip(named, given[len(args):])))
                write_record(name, at, "near", key(*now), answer(f, *now), asked)
    def wrapped(name, f):
        calls = [0]
        @functools.wraps(f)
        def asked(*args, **named):
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
        return asked
    for name in names if path else []:
        if inspect.isfunction(globals().get(name)):
            globals()[name] = wrapped(name, globals()[name])
${variable}(${JSON.stringify(names)})
`;
