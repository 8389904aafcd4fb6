import { describe, expect, test } from '@jest/globals';
import { broadcast } from '@suzumio/store/mail/broadcast';
import { postMessage } from '@suzumio/store/mail/post-message';
import { refusedAs, teams } from '../team.js';

const restricted = (limit: string) => `
name: led
task: Work.
communication: { coordinatorAgent: lead, restrictNonCoordinatorToCoordinator: true${limit} }
backend: { runner: { mode: mock } }
agents:
  lead: { role: lead, prompt: Lead. }
  dev: { role: developer, prompt: Develop., displayName: Dee }
  tester: { role: tester, prompt: Test. }
`;

const team = teams();
const from = (sender: string) => ({ sender, priority: 'P1' as const, body: 'Hello.', actor: sender });

describe('where agents write to the coordinator alone', () => {
  test.each([
    [{ recipient: 'tester' }, 'dev may write to lead alone'],
    [{ recipient: 'user' }, 'dev may write to lead alone'],
    [{ channel: '#project' }, 'dev may write to lead alone'],
  ])('others are refused as %j', async (address, sentence) => {
    const of = await team(restricted(''));
    const sent = of.write((tx) => postMessage(tx, { ...from('dev'), ...address }));
    await expect(sent).rejects.toMatchObject(refusedAs('recipient-refused'));
    await expect(sent).rejects.toThrow(sentence);
    expect(of.rows('SELECT * FROM messages')).toEqual([]);
  });

  test('an announcement is refused, too', async () => {
    const of = await team(restricted(''));
    await expect(of.write((tx) => broadcast(tx, from('dev')))).rejects.toMatchObject(refusedAs('recipient-refused'));
  });

  test('the coordinator, the person and the system write to whom they like', async () => {
    const of = await team(restricted(''));
    for (const sender of ['lead', 'user', 'system']) {
      await of.write((tx) => postMessage(tx, { ...from(sender), priority: 'P0', recipient: 'dev' }));
    }
    expect(of.rows('SELECT priority FROM messages')).toEqual([
      { priority: 'P0' },
      { priority: 'P0' },
      { priority: 'P0' },
    ]);
  });

  test.each([
    ['', 'P0', 'P2'],
    ['', 'P3', 'P3'],
    [', nonCoordinatorMaxPriority: P1', 'P0', 'P1'],
    [', nonCoordinatorMaxPriority: P3', 'P1', 'P3'],
  ] as const)('and with%s mail of %s goes as %s', async (limit, asked, sent) => {
    const of = await team(restricted(limit));
    await of.write((tx) => postMessage(tx, { ...from('dev'), priority: asked, recipient: 'lead' }));
    expect(of.rows('SELECT priority FROM messages UNION ALL SELECT priority FROM inbox')).toEqual([
      { priority: sent },
      { priority: sent },
    ]);
  });

  test('without the rule, all write to all', async () => {
    const of = await team(restricted('').replace('true', 'false'));
    await of.write((tx) => postMessage(tx, { ...from('dev'), priority: 'P0', recipient: 'tester' }));
    expect(of.rows('SELECT priority FROM messages')).toEqual([{ priority: 'P0' }]);
  });
});
