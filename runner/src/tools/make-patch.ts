import { spawn } from 'node:child_process';
import { copyFile, type FileHandle, mkdir, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const timeoutMs = 120_000;
const maxErrorBytes = 2_000;

/**
 * Makes a patch of all that differs between a workspace and a commit: committed or not, with new files but those that
 * `.gitignore` names, with binary ones. The repository, its index and its objects stay as they are.
 *
 * @param use reads the patch, which is gone afterwards
 * @throws Error with the reason for the caller
 */
export async function withPatch<Result>(
  workspace: string,
  base: string,
  use: (patch: FileHandle) => Promise<Result>,
): Promise<Result> {
  const own = await mkdtemp(join(tmpdir(), 'suzumio-patch-'));
  try {
    const gitDir = join(workspace, '.git');
    const [index, objects, path] = [join(own, 'index'), join(own, 'objects'), join(own, 'patch')];
    await mkdir(objects);
    // Files that the index knows are not read again.
    await copyFile(join(gitDir, 'index'), index).catch(() => undefined);
    const run = (args: readonly string[], output?: FileHandle) =>
      git(workspace, args, output, {
        GIT_DIR: gitDir,
        GIT_WORK_TREE: workspace,
        GIT_INDEX_FILE: index,
        GIT_OBJECT_DIRECTORY: objects,
        GIT_ALTERNATE_OBJECT_DIRECTORIES: join(gitDir, 'objects'),
        GIT_OPTIONAL_LOCKS: '0',
      });
    await run(['add', '--all', '--', '.', ':(exclude).suzumio']);
    const plain = ['--binary', '--full-index', '--no-color', '--no-ext-diff', '--no-textconv', '--no-renames'];
    const output = await open(path, 'w', 0o600);
    try {
      await run(['diff', '--cached', ...plain, '--src-prefix=a/', '--dst-prefix=b/', base, '--'], output);
    } finally {
      await output.close();
    }
    const patch = await open(path);
    try {
      if ((await patch.stat()).size === 0) throw new Error(`nothing differs from the commit ${base}`);
      return await use(patch);
    } finally {
      await patch.close();
    }
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}

/** Runs Git as the agent's programs do, without the way to the turn's door. */
async function git(
  cwd: string,
  args: readonly string[],
  output: FileHandle | undefined,
  more: Readonly<Record<string, string>>,
): Promise<void> {
  const kept = Object.entries(process.env).filter(([name]) => !/^(?:SUZUMIO|GIT)_/.test(name));
  const child = spawn('git', ['-c', 'core.fsmonitor=false', '-c', 'core.quotePath=true', ...args], {
    cwd,
    env: { ...Object.fromEntries(kept), ...more },
    stdio: ['ignore', output?.fd ?? 'ignore', 'pipe'],
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  });
  let said = '';
  child.stderr?.on('data', (bytes: Buffer) => {
    said = `${said}${bytes.toString('utf8')}`.slice(-maxErrorBytes);
  });
  const ended = await new Promise<number | string>((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'ENOENT' ? new Error('git is not in this image') : error),
    );
    child.once('close', (code, signal) => resolve(code ?? signal ?? ''));
  });
  if (ended !== 0) throw new Error(`git ${args[0] ?? ''} ended with ${ended}: ${said.trim()}`);
}
