import { expect, test } from '@jest/globals';
import { ProjectTurns } from '../src/project-turns.js';

/** Work that begins when it has its turn, and ends when it is told to. */
function works(turns: ProjectTurns) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    begun,
    take: (name: string) =>
      turns.take(name.slice(0, 1), async () => {
        begun.push(name);
        await new Promise<void>((end) => ends.set(name, end));
        return name;
      }),
    end: async (name: string): Promise<void> => {
      ends.get(name)?.();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

test('one project with much work keeps others waiting for one piece, and for those of each other', async () => {
  const { begun, take, end } = works(new ProjectTurns());
  const all = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'].map(take);
  for (let at = 0; at < all.length; at += 1) {
    expect(begun).toHaveLength(at + 1);
    await end(begun[at] ?? '');
  }
  expect(begun).toEqual(['a1', 'b1', 'a2', 'c1', 'b2', 'a3']);
  expect(await Promise.all(all)).toEqual(['a1', 'a2', 'a3', 'b1', 'b2', 'c1']);
});

test('work of a project that comes one piece after the other goes behind that of others', async () => {
  const { begun, take, end } = works(new ProjectTurns());
  const all = [take('a1'), take('a2'), take('b1')];
  await end('a1');
  all.push(take('a3'));
  await end('b1');
  await end('a2');
  await end('a3');
  expect(begun).toEqual(['a1', 'b1', 'a2', 'a3']);
  await Promise.all(all);
});

test('of several places, the next is for the project that has the fewest', async () => {
  const { begun, take, end } = works(new ProjectTurns(3));
  const all = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'b3'].map(take);
  expect(begun).toEqual(['a1', 'a2', 'a3']);
  await end('a1');
  await end('a2');
  await end('b1');
  await end('a3');
  expect(begun.slice(3)).toEqual(['b1', 'a4', 'b2', 'b3']);
  for (const name of ['a4', 'b2', 'b3']) await end(name);
  await Promise.all(all);
});

test('work that fails is its caller’s, and gives its place back', async () => {
  const turns = new ProjectTurns();
  await expect(turns.take('a', () => Promise.reject(new Error('No.')))).rejects.toThrow('No.');
  const { take, end } = works(turns);
  const last = take('a1');
  let isIdle = false;
  const idle = turns.idle().then(() => (isIdle = true));
  await end('none');
  expect(isIdle).toBe(false);
  await end('a1');
  await Promise.all([last, idle]);
});
