// detect-java: detects the tests of Maven and Gradle builds, run through the wrapper if there is one.

import { type Detected, projectCheck, type Tree } from "./manifest.ts";

/** The tests of a Maven or Gradle build, by the wrapper if the project has one. */
export function detectJava(tree: Tree): Detected {
  const [pom, gradle] = ["pom.xml", ["build.gradle", "build.gradle.kts"].find((name) => tree.files.has(name))];
  const launcher = (wrapper: string, tool: string): string => (tree.files.has(wrapper) ? `sh ./${wrapper}` : tool);
  return {
    checks: [
      ...(tree.files.has(pom) ? [projectCheck("maven-test", `${launcher("mvnw", "mvn")} -B test`, pom)] : []),
      ...(gradle === undefined ? [] : [projectCheck("gradle-test", `${launcher("gradlew", "gradle")} test`, gradle)]),
    ],
    warnings: [],
  };
}
