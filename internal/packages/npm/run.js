"use strict";

const { spawn } = require("node:child_process");

// Runs the program of the package for this system, and ends as it does.
module.exports = (program) => {
  // A hook that fails shows in every session: it does nothing instead.
  const hook = process.argv[2] === "hook";
  const fail = (...lines) => {
    if (!hook) console.error(lines.join("\n"));
    process.exit(hook ? 0 : 1);
  };

  const system = `${process.platform}-${process.arch}`;
  const supported = Object.keys(require("./package.json").optionalDependencies);
  const name = `@ccreload/${system}`;
  if (!supported.includes(name)) {
    fail(`${program}: there is no build for ${system}`, "hint: build it from source, with Go: https://github.com/ccreload/ccreload");
  }
  let file;
  try {
    file = require.resolve(`${name}/bin/${program}${process.platform === "win32" ? ".exe" : ""}`);
  } catch {
    fail(
      `${program}: the package ${name} is not installed`,
      "hint: install ccreload again on this system, and without --omit=optional",
    );
  }
  const child = spawn(file, process.argv.slice(2), { stdio: "inherit", windowsHide: true });
  child.on("error", (error) => fail(`${program}: ${error.message}`));
  child.on("exit", (code, signal) => {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
  // The terminal sends SIGINT to the program, too; the others are for us to pass on.
  process.on("SIGINT", () => {});
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
};
