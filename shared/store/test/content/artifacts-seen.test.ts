import { expect, test } from '@jest/globals';
import { newestArtifactOfAll } from '@suzumio/store/content/artifacts';
import { othersSeen } from '@suzumio/store/content/artifacts-seen';
import { type NewArtifact, publishArtifact } from '@suzumio/store/content/publish-artifact';
import { teams } from '../team.js';

const makeTeam = teams();

async function published(...artifacts: (Pick<NewArtifact, 'creator' | 'name'> & Partial<NewArtifact>)[]) {
  const team = await makeTeam();
  const publish = (one: (typeof artifacts)[number]) =>
    team.write((tx) => publishArtifact(tx, { path: 'artifacts/x', sha256: 'a'.repeat(64), sizeBytes: 10, ...one }));
  for (const one of artifacts) await publish(one);
  const { reader } = team.store;
  const seen = (agent: string, upTo = newestArtifactOfAll(reader), bounds?: Parameters<typeof othersSeen>[2]) => {
    const { artifacts: found, more } = othersSeen(reader, { agent, upTo }, bounds);
    return { names: found.map(({ creator, name, sha256 }) => `${creator}/${name} ${sha256[0] ?? ''}`), more };
  };
  return { team, publish, seen };
}

test('an agent finds the newest version of each name by each other, and none of its own', async () => {
  const { seen } = await published(
    { creator: 'ada', name: 'a.md' },
    { creator: 'ben', name: 'b.md' },
    { creator: 'ben', name: 'a.md' },
    { creator: 'user', name: 'a.md' },
    { creator: 'ben', name: 'b.md', sha256: 'b'.repeat(64) },
  );
  expect(seen('ada')).toEqual({ names: ['ben/a.md a', 'ben/b.md b', 'user/a.md a'], more: false });
  expect(seen('cleo').names).toHaveLength(4);
});

test('what is published later is not found by a turn that was claimed before', async () => {
  const { team, publish, seen } = await published({ creator: 'ben', name: 'b.md' });
  const upTo = newestArtifactOfAll(team.store.reader);
  await publish({ creator: 'ben', name: 'b.md', sha256: 'b'.repeat(64) });
  await publish({ creator: 'ben', name: 'c.md' });
  expect(seen('ada', upTo)).toEqual({ names: ['ben/b.md a'], more: false });
  expect(seen('ada', 0)).toEqual({ names: [], more: false });
});

test('a name whose newest version was redacted is left out, also where that was after the claim', async () => {
  const { team, publish, seen } = await published({ creator: 'ben', name: 'b.md' });
  await publish({ creator: 'ben', name: 'b.md', sha256: 'b'.repeat(64) });
  await team.write((tx) => tx.run(`UPDATE artifacts SET redacted_json = '{}' WHERE sha256 LIKE 'b%'`));
  expect(seen('ada').names).toEqual([]);
});

test('where there are too many, the newest are taken, and it is said that there are more', async () => {
  const large = { directory: { files: 3, contents: [] } };
  const { seen } = await published(
    { creator: 'ben', name: 'old' },
    { creator: 'ben', name: 'large', sizeBytes: 100, ...large },
    { creator: 'ben', name: 'new' },
  );
  const bounds = { names: 10, files: 10, bytes: 1_000 };
  expect(seen('ada', 9, bounds)).toMatchObject({ more: false });
  expect(seen('ada', 9, { ...bounds, files: 3 })).toEqual({ names: ['ben/new a', 'ben/old a'], more: true });
  expect(seen('ada', 9, { ...bounds, bytes: 110 })).toEqual({ names: ['ben/large a', 'ben/new a'], more: true });
  expect(seen('ada', 9, { ...bounds, names: 1 })).toEqual({ names: ['ben/large a'], more: true });
});

test('one with very many names hides nothing of the others', async () => {
  const { seen } = await published(
    ...['a', 'b', 'c', 'd'].map((name) => ({ creator: 'ben', name })),
    { creator: 'cat', name: 'late' },
    { creator: 'user', name: 'later' },
  );
  const bounds = { names: 6, files: 100, bytes: 1_000_000 };
  expect(seen('ada', 9, bounds)).toEqual({ names: ['ben/a a', 'ben/b a', 'cat/late a', 'user/later a'], more: true });
});
