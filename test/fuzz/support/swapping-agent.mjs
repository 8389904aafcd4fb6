// What a hostile container does in its workspace while the host looks at it. Arguments: the workspace, a directory of the
// host that it wants the host to read or write, a seed. In a container its links lead nowhere; here it must not follow them
// itself, so it goes from descriptor to descriptor.
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { setPriority } from 'node:os';
import process from 'node:process';

const [, , workspace, outside, seed] = process.argv;
process.chdir(workspace);
// What it does is to fall between the steps of a capture, not to keep it from its processor.
setPriority(10);

let state = Number(seed) >>> 0;
const below = (n) => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor((state / 2 ** 32) * n);
};
const one = (list) => list[below(list.length)];

const { O_RDONLY, O_WRONLY, O_APPEND, O_CREAT, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;
const directories = [[], ['d0'], ['d1'], ['d0', 'e'], ['d1', 'e'], ['d0', 'e', 'f']];
const names = ['d0', 'd1', 'e', 'f', 'x', 'y', 'large'];
const targets = [outside, `${outside}/secret.txt`, `${outside}/e`];
const away = `away-${process.pid}`;

/** Calls `act` with a way to name what is in a directory. */
function inside(parts, act) {
  const open = [];
  try {
    let at = '.';
    for (const part of parts) {
      open.push(openSync(`${at}/${part}`, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
      at = `/proc/self/fd/${open.at(-1)}`;
    }
    return act((name) => `${at}/${name}`);
  } finally {
    for (const fd of open) closeSync(fd);
  }
}

function withFile(path, flags, act) {
  const fd = openSync(path, flags | O_NOFOLLOW | O_NONBLOCK, 0o644);
  try {
    act(fd);
  } finally {
    closeSync(fd);
  }
}
const write = (path, text, flags = 0) =>
  withFile(path, O_WRONLY | O_CREAT | flags, (fd) => {
    if (fstatSync(fd).size > 400_000) ftruncateSync(fd);
    writeSync(fd, text);
  });

/** Removes what has a name, whatever it is. */
function wipe(at, name) {
  try {
    unlinkSync(at(name));
  } catch {
    const fd = openSync(at(name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    try {
      const inner = (child) => `/proc/self/fd/${fd}/${child}`;
      for (const child of readdirSync(inner('.'))) wipe(inner, child);
    } finally {
      closeSync(fd);
    }
    rmdirSync(at(name));
  }
}

const acts = [
  // A directory or a file is a link for a moment.
  (at) => {
    const name = one(names);
    renameSync(at(name), at(away));
    symlinkSync(one(targets), at(name));
    for (let spin = below(20_000); spin > 0; spin -= 1);
    unlinkSync(at(name));
    renameSync(at(away), at(name));
  },
  (at) => {
    const name = one(['x', 'y', 'large']);
    unlinkSync(at(name));
    symlinkSync(one(targets), at(name));
  },
  (at) => inside(one(directories), (there) => renameSync(at(one(names)), there(one(names)))),
  (at) => inside(one(directories), (there) => linkSync(at(one(names)), there(one(names)))),
  (at) => write(at(one(['x', 'y', 'large'])), 'x'.repeat(below(40_000)), O_APPEND),
  (at) => withFile(at(one(['x', 'y', 'large'])), O_WRONLY, (fd) => ftruncateSync(fd, below(1_000))),
  (at) => write(at('large'), String(below(1e9)).repeat(30_000 + below(30_000))),
  (at) => write(at(one(['x', 'y'])), String(below(1e9))),
  (at) => unlinkSync(at(one(names))),
  (at) => wipe(at, one(names)),
  (at) => withFile(at(one(names)), O_RDONLY, (fd) => fchmodSync(fd, one([0, 0o400, 0o755, 0o777]))),
  (at) => renameSync('pipe', at(one(['x', 'y']))),
  (at) => write(Buffer.from(`${at('')}\xff`, 'latin1'), 'a name that is no text'),
  () => {
    // What it has moved into one another is not to grow for ever.
    if (below(30) === 0) for (const name of readdirSync('.')) wipe((top) => `./${top}`, name);
    for (const parts of directories.slice(1)) {
      try {
        inside(parts.slice(0, -1), (at) => mkdirSync(at(parts.at(-1))));
      } catch {
        // It is there.
      }
    }
    for (const parts of directories) inside(parts, (at) => write(at('x'), parts.join()));
    if (below(300) === 0) execFileSync('mkfifo', ['pipe'], { stdio: 'ignore' });
  },
];

for (;;) {
  try {
    // The first is what it is about.
    inside(one(directories), below(2) === 0 ? acts[0] : one(acts));
  } catch {
    // Something else stands there by now.
  }
}
