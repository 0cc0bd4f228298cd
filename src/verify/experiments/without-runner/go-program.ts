// go-program: builds a Go main program that calls the tests of a package, with a small `testing`
// package of our own. Pure.

import { shellWord } from "../../../kit/shell-word.ts";
import {
  parentFolder,
  type TestProgramInput,
  type PlainProgram,
  repeatMs,
} from "./plain-program.ts";

export function buildGoProgram({
  path,
  text,
  uniqueName,
  manifest,
  skippedTests,
}: TestProgramInput): PlainProgram | null {
  const module = /^module\s+"?([^\s"]+)"?/m.exec(manifest ?? "")?.[1];
  const packageName = /^package\s+(\w+)/m.exec(text)?.[1];
  if (
    module === undefined ||
    packageName === undefined ||
    /\btesting\.(?!T\b)\w+|"testing\/|\bTestMain\b|^\/\/go:build/m.test(text)
  ) {
    return null;
  }

  const tests = [...text.matchAll(/^func (Test\w*)\(\w+ \*testing\.T\)/gm)]
    .map(([, name = ""]) => name)
    .filter((name) => !skippedTests.includes(name));
  if (tests.length === 0) return null;
  const isBeside = packageName.endsWith("_test");
  const folder = parentFolder(path).replace(/\/$/, "");
  const targetFolder = isBeside ? `${uniqueName}/beside` : folder;
  const imported = targetFolder === "" ? module : `${module}/${targetFolder}`;
  const calls = tests.map((name) => `\ttesting.Call("${name}", ${name})`).join("\n");
  const copy = text.replace(
    /^(\s*(?:import\s+)?)"testing"$/m,
    (_, keyword: string) => `${keyword}testing "${module}/${uniqueName}/testing"`,
  );

  return {
    edits: [
      { path: `${uniqueName}/testing/testing.go`, text: shim },
      {
        path: `${targetFolder === "" ? "" : `${targetFolder}/`}${uniqueName}.go`,
        text: `${copy}\n// CallAll is called by a plain program.\nfunc CallAll${uniqueName}() {\n${calls}\n}\n`,
      },
      {
        path: `${uniqueName}/main.go`,
        text: `package main\n\nimport (\n\t"os"\n\n\ttests "${imported}"\n\t"${module}/${uniqueName}/testing"\n)\n\nfunc main() {\n\tif testing.DoesAnyFail(tests.CallAll${uniqueName}) {\n\t\tos.Exit(0)\n\t}\n\tos.Exit(1)\n}\n`,
      },
    ],
    // Tests run in the folder of their package, where their data is.
    command: `${replaceTesting(`${module}/${uniqueName}/testing`)}; cd ${shellWord(folder === "" ? "." : folder)} && go run ${shellWord(`${module}/${uniqueName}`)}`,
  };
}

/** Packages of the project that help its tests (`want.Equal(t, …)`) take our `testing` too. */
const replaceTesting = (path: string): string =>
  `grep -rlZE --include='*.go' --exclude='*_test.go' '^(import )?[[:space:]]*"testing"$' . | xargs -0r sed -i -E 's#^((import )?[[:space:]]*)"testing"$#\\1testing "${path}"#'`;

/**
 * A `testing` package with what tests use most. A test that panics by anything but its own end has
 * not failed.
 */
const shim = `package testing

import (
	"fmt"
	"os"
	"time"
)

var failed map[string]bool

type T struct {
	name    string
	failed  bool
	cleanup []func()
}
type end struct{}

func (t *T) Fail()                         { t.failed = true }
func (t *T) FailNow()                      { t.failed = true; panic(end{}) }
func (t *T) Error(...any)                  { t.Fail() }
func (t *T) Errorf(string, ...any)         { t.Fail() }
func (t *T) Fatal(...any)                  { t.FailNow() }
func (t *T) Fatalf(string, ...any)         { t.FailNow() }
func (t *T) Log(...any)                    {}
func (t *T) Logf(string, ...any)           {}
func (t *T) Helper()                       {}
func (t *T) Parallel()                     {}
func (t *T) Failed() bool                  { return t.failed }
func (t *T) Name() string                  { return t.name }
func (t *T) Skip(...any)                   { panic(end{}) }
func (t *T) Skipf(string, ...any)          { panic(end{}) }
func (t *T) SkipNow()                      { panic(end{}) }
func (t *T) Cleanup(f func())              { t.cleanup = append(t.cleanup, f) }
func (t *T) TempDir() string               { dir, _ := os.MkdirTemp("", "t"); return dir }
func (t *T) Run(name string, f func(*T)) bool {
	inner := &T{name: fmt.Sprintf("%s/%s", t.name, name)}
	inner.call(f)
	t.failed = t.failed || inner.failed
	return !inner.failed
}
func (t *T) call(f func(*T)) {
	defer func() {
		if caught := recover(); caught != nil {
			if _, ok := caught.(end); !ok {
				t.failed = false
			}
		}
		for at := len(t.cleanup) - 1; at >= 0; at-- {
			t.cleanup[at]()
		}
	}()
	f(t)
}

// Call runs one test.
func Call(name string, f func(*T)) {
	t := &T{}
	t.call(f)
	if t.failed {
		failed[name] = true
	}
}

func failedOnce(callAll func()) map[string]bool {
	failed = map[string]bool{}
	callAll()
	return failed
}

// DoesAnyFail calls all tests again and again.
func DoesAnyFail(callAll func()) bool {
	began := time.Now()
	if len(failedOnce(callAll)) > 0 {
		return true
	}
	if time.Since(began) > ${repeatMs / 2}*time.Millisecond {
		return false
	}
	unrepeatable := failedOnce(callAll)
	for time.Since(began) < ${repeatMs}*time.Millisecond {
		for name := range failedOnce(callAll) {
			if !unrepeatable[name] {
				return true
			}
		}
	}
	return false
}
`;
