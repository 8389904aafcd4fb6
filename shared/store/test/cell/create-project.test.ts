import { mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { entriesOf, readSnapshot } from '@suzumio/protocol/workspace-snapshot';
import { loadProjectText } from '@suzumio/core/profiles/load-project';
import { ContentStore } from '@suzumio/store/content/content-store';
import { storedManifest } from '@suzumio/store/content/stored-snapshot';
import { constructionMs, type NewProject } from '@suzumio/store/cell/create-project';
import { listAgents } from '@suzumio/store/projects/agents';
import { postMessage } from '@suzumio/store/mail/post-message';
import { startProject } from '@suzumio/store/projects/project-transitions';
import { entryOf, teamYaml, type TestCell, testCell } from '../../../../test/support/cell.js';

let testing: TestCell;
beforeEach(async () => {
  testing = await testCell();
});
afterEach(() => testing.close());

const catalogued = () => testing.cell.catalog.projects.all();
const onDisk = () => readdir(testing.cell.directory.projectsDir);
function project(change: Partial<NewProject> = {}, yaml = teamYaml): NewProject {
  const { config } = loadProjectText(yaml, 'team.yaml');
  return { config, source: yaml, actor: 'ann', ...change };
}

describe('making a project', () => {
  test('leaves its database, its file as written and as resolved, and a line in the catalog', async () => {
    await testing.cell.createProject(project());
    const directory = testing.cell.directory.projectDir('team');
    expect((await readdir(directory)).sort()).toEqual(['artifacts', 'project.db', 'resolved.yaml', 'source.yaml']);
    expect(await readFile(join(directory, 'source.yaml'), 'utf8')).toBe(teamYaml);
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
    expect((await stat(join(directory, 'source.yaml'))).mode & 0o777).toBe(0o600);
    expect(catalogued()).toEqual([{ id: 'team', status: 'initialized' }]);
    expect(testing.cell.catalog.projects.unsettled()).toEqual([]);
    expect(await onDisk()).toEqual(['team']);
    await testing.store('team', (store) => {
      expect(store.config.name).toBe('team');
      expect(listAgents(store.reader).map(({ id, state }) => `${id} ${state}`)).toEqual([
        'ada quiet',
        'ben quiet',
        'cat quiet',
      ]);
    });
    expect(await testing.rows('team', 'SELECT type, actor FROM events')).toEqual([
      { type: 'project.initialized', actor: 'ann' },
    ]);
  });

  test('may begin it with mail and a start, in one transaction', async () => {
    const begin: NewProject['begin'] = (tx) => {
      startProject(tx, 'ann');
      postMessage(tx, { sender: 'user', recipient: 'ada', priority: 'P1', body: 'Go.', actor: 'ann' });
    };
    await testing.cell.createProject(project({ begin }));
    expect(catalogued()).toEqual([{ id: 'team', status: 'running' }]);
    expect(testing.cell.catalog.projects.unsettled()).toEqual(['team']);
    expect(await testing.rows('team', 'SELECT recipient FROM inbox')).toEqual([{ recipient: 'ada' }]);
  });

  test('of a name that is taken is refused, and changes nothing', async () => {
    await testing.cell.createProject(project());
    await expect(testing.cell.createProject(project())).rejects.toMatchObject({ code: 'project-exists', status: 409 });
    expect(await onDisk()).toEqual(['team']);
    expect(catalogued()).toHaveLength(1);
  });

  test('twice at once makes it once', async () => {
    const outcomes = await Promise.allSettled([1, 2, 3].map(() => testing.cell.createProject(project())));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await onDisk()).toEqual(['team']);
    expect(catalogued()).toEqual([{ id: 'team', status: 'initialized' }]);
  });

  test('that fails leaves nothing', async () => {
    const begin = () => {
      throw new Error('no');
    };
    await expect(testing.cell.createProject(project({ begin }))).rejects.toThrow('no');
    expect(await onDisk()).toEqual([]);
    expect(catalogued()).toEqual([]);
  });

  test('that fails does not hide the same project, which another process is just making', async () => {
    // The other's line in the catalog comes before its directory.
    await testing.cell.catalog.projects.add('team', entryOf('running'));
    const begin = () => {
      throw new Error('no');
    };
    await expect(testing.cell.createProject(project({ begin }))).rejects.toThrow('no');
    expect(testing.cell.catalog.projects.unsettled()).toEqual(['team']);
  });
});

describe('workspaces that begin with files', () => {
  let from: string;
  beforeEach(async () => {
    from = await mkdtemp(join(await realpath(tmpdir()), 'suzumio-seed-'));
  });
  afterEach(() => rm(from, { recursive: true, force: true }));
  const yaml = () => `
name: seeded
task: Read.
backend: { runner: { mode: mock } }
agents: { reader: { role: reader, prompt: Read., count: 2, workspace: { from: ${from} } } }
`;

  test('share one snapshot, with links as links', async () => {
    await mkdir(join(from, 'data'));
    await writeFile(join(from, 'data', 'a.csv'), '1,2\n');
    await writeFile(join(from, 'run.sh'), '#!/bin/sh\n', { mode: 0o755 });
    await symlink('/etc/passwd', join(from, 'link'));
    await testing.cell.createProject(project({}, yaml()));
    const snapshots = await testing.rows<{ snapshot: string }>('seeded', 'SELECT DISTINCT snapshot FROM agents');
    expect(snapshots).toHaveLength(1);
    const hash = snapshots[0]?.snapshot ?? '';
    const content = new ContentStore(testing.cell.directory.projectDir('seeded'));
    const entries = [...entriesOf(await readSnapshot(hash, (sha256) => storedManifest(content, sha256)))];
    expect(Object.fromEntries(entries.map(({ path, entry }) => [path, entry]))).toMatchObject({
      data: { kind: 'directory' },
      'data/a.csv': { kind: 'file', sizeBytes: 4, executable: false },
      link: { kind: 'link', target: '/etc/passwd' },
      'run.sh': { kind: 'file', executable: true },
    });
  });

  test('that cannot be read refuse the project, and say what would be right', async () => {
    await rm(from, { recursive: true });
    const refusal = (is: string) => ({ code: 'invalid-config', message: `The workspace directory ${from} ${is}` });
    await expect(testing.cell.createProject(project({}, yaml()))).rejects.toMatchObject(
      refusal('does not exist: make it, or name another one in workspace.from.'),
    );
    await writeFile(from, '');
    await expect(testing.cell.createProject(project({}, yaml()))).rejects.toMatchObject(
      refusal('is no directory: name one in workspace.from.'),
    );
    expect(await onDisk()).toEqual([]);
  });

  test('are of no directory to which a link leads that was put there after the check', async () => {
    const elsewhere = await mkdtemp(join(await realpath(tmpdir()), 'suzumio-elsewhere-'));
    await writeFile(join(elsewhere, 'key'), 'secret');
    const asked: string[] = [];
    const mayCopy = (directory: string) => {
      asked.push(directory);
      return directory === from;
    };
    await testing.cell.createProject(project({ mayCopy }, yaml()));
    await rm(from, { recursive: true });
    await symlink(elsewhere, from);
    const again = project({ mayCopy }, yaml().replace('name: seeded', 'name: again'));
    await expect(testing.cell.createProject(again)).rejects.toMatchObject({ code: 'policy-denied' });
    expect(asked).toEqual([from, elsewhere]);
    expect(await onDisk()).toEqual(['seeded']);
    await rm(elsewhere, { recursive: true });
  });

  test('whose links say more than those of a workspace may refuse it, as a capture does', async () => {
    const target = 'x/'.repeat(2_040);
    const links = Array.from({ length: 2_060 }, (_, number) => join(from, String(number)));
    for (const link of links.slice(0, 2_000)) await symlink(target, link);
    await testing.cell.createProject(project({}, yaml()));
    for (const link of links.slice(2_000)) await symlink(target, link);
    const again = project({}, yaml().replace('name: seeded', 'name: again'));
    await expect(testing.cell.createProject(again)).rejects.toMatchObject({
      code: 'invalid-config',
      message: expect.stringContaining('it has links with more than 8388608 bytes together'),
    });
    await rm(from, { recursive: true });
    await mkdir(from);
  });

  test('that are larger than the project lets them be refuse it, and name the limits', async () => {
    for (const name of ['a', 'b', 'c']) await writeFile(join(from, name), 'text');
    const limited = (limits: string) => testing.cell.createProject(project({}, `${yaml()}workspace: { ${limits} }\n`));
    await expect(limited('maxFiles: 2')).rejects.toMatchObject({
      code: 'invalid-config',
      message: expect.stringContaining('2 files (workspace.maxFiles)'),
    });
    await expect(limited('maxBytes: 10')).rejects.toMatchObject({
      message: expect.stringContaining('10 bytes (workspace.maxBytes)'),
    });
    expect(await onDisk()).toEqual([]);
  });
});

describe('after a crash', () => {
  test('what was being made then is removed, what is being made now is left', async () => {
    const { projectsDir } = testing.cell.directory;
    const old = new Date(Date.now() - constructionMs - 60_000);
    await mkdir(join(projectsDir, '.new-old', 'artifacts'), { recursive: true });
    await utimes(join(projectsDir, '.new-old'), old, old);
    await mkdir(join(projectsDir, '.new-young'));
    await testing.cell.recover();
    expect(await onDisk()).toEqual(['.new-young']);
  });

  test('a project that the catalog does not know is added with the status that it has', async () => {
    await testing.create();
    await testing.cell.catalog.projects.remove('team');
    await testing.cell.recover();
    expect(catalogued()).toEqual([{ id: 'team', status: 'running' }]);
    expect(testing.cell.catalog.projects.unsettled()).toEqual(['team']);
  });

  test('a name whose making was cut short can be used again at once, and is looked after', async () => {
    await testing.cell.catalog.projects.add('team', entryOf('initialized'));
    await testing.cell.createProject(project({ begin: (tx) => startProject(tx, 'ann') }));
    expect(testing.cell.catalog.projects.unsettled()).toEqual(['team']);
  });
});
