// detect-java: detects the tests of Maven and Gradle builds, run through the wrapper if there is
// one.

import { type DetectedChecks, createProjectCheck, type Tree } from "./manifest.ts";

export function detectJava(tree: Tree): DetectedChecks {
  const chooseLauncher = (wrapper: string, tool: string): string =>
    tree.files.has(wrapper) ? `sh ./${wrapper}` : tool;
  const checks = [];

  if (tree.files.has("pom.xml")) {
    checks.push(
      createProjectCheck("maven-test", `${chooseLauncher("mvnw", "mvn")} -B test`, "pom.xml"),
    );
  }

  const gradleFile = ["build.gradle", "build.gradle.kts"].find((name) => tree.files.has(name));
  if (gradleFile !== undefined) {
    checks.push(
      createProjectCheck("gradle-test", `${chooseLauncher("gradlew", "gradle")} test`, gradleFile),
    );
  }

  return { checks, warnings: [] };
}
