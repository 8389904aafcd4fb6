#!/usr/bin/env node
// Says which Node.js it needs before it loads what an older one crashes on: the native SQLite module ends the process.
const required = 22;

if (Number.parseInt(process.versions.node, 10) < required) {
  console.error(
    `suzumio needs Node.js ${required} or later; ${process.execPath} is ${process.version}.\n` +
      `next: npx suzumio, in the clone, which runs it on the project's own Node.js, or put a newer one first on the PATH`,
  );
  process.exitCode = 1;
} else {
  await import('../bundle/dist/main.js');
}
