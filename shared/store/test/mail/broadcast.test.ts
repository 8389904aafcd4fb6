import { describe, expect, test } from '@jest/globals';
import { findMessage } from '@suzumio/store/mail/messages';
import { broadcast } from '@suzumio/store/mail/broadcast';
import { deskYaml, said } from '../desk.js';
import { refusedAs, type Team, teams } from '../team.js';

const team = teams();
const announce = (of: Team, sender: string, name?: string) =>
  of.write((tx) => broadcast(tx, { ...said(sender), ...(name === undefined ? {} : { team: name }) }));

describe('a broadcast', () => {
  test('to a team is one message with an unread copy for each member', async () => {
    const of = await team(deskYaml);
    const posted = await announce(of, 'boss', 'north');
    expect(posted.recipients).toEqual(['amy', 'bob']);
    expect(of.rows('SELECT seq, recipient, channel, kind FROM messages')).toEqual([
      { seq: 1, recipient: '@north', channel: null, kind: 'broadcast' },
    ]);
    expect(of.rows('SELECT recipient, message_seq FROM inbox')).toEqual([
      { recipient: 'amy', message_seq: 1 },
      { recipient: 'bob', message_seq: 1 },
    ]);
    expect(of.events().filter((type) => type === 'message.created')).toHaveLength(1);
    expect(findMessage(of.store.reader, posted.id)).toMatchObject({ threadId: posted.id, replyTo: null });
  });

  test('leaves its sender out', async () => {
    const of = await team(deskYaml);
    expect((await announce(of, 'amy', 'north')).recipients).toEqual(['bob']);
    expect((await announce(of, 'amy')).recipients).toEqual(['boss', 'bob', 'cleo', 'dan']);
    expect(of.unread('amy')).toBe(0);
  });

  test.each([undefined, 'all', '@all', ' ALL '])('to %j is to all agents of the project', async (name) => {
    const of = await team(deskYaml);
    expect((await announce(of, 'user', name)).recipients).toEqual(['boss', 'amy', 'bob', 'cleo', 'dan']);
    expect(of.rows('SELECT recipient FROM messages')).toEqual([{ recipient: '@all' }]);
  });

  test.each(['@north', ' North '])('names the team as prompts show it, or in capitals: %j', async (name) => {
    const of = await team(deskYaml);
    expect((await announce(of, 'boss', name)).recipients).toEqual(['amy', 'bob']);
    expect(of.rows('SELECT recipient FROM messages')).toEqual([{ recipient: '@north' }]);
  });

  test('wakes each member, for a turn of its own that reads it', async () => {
    const of = await team(deskYaml);
    const { id } = await announce(of, 'boss', 'north');
    for (const turn of await of.schedule()) await of.complete(await of.begin(turn));
    expect(of.rows(`SELECT recipient FROM message_reads WHERE message_id = '${id}' ORDER BY recipient`)).toEqual([
      { recipient: 'amy' },
      { recipient: 'bob' },
    ]);
  });

  test('to an unknown team is refused with those that there are', async () => {
    const of = await team(deskYaml);
    const refused = announce(of, 'boss', 'west');
    await expect(refused).rejects.toMatchObject(refusedAs('team-unknown'));
    await expect(refused).rejects.toThrow('There is no team "west" in this project: known are north, south');
    await expect(announce(await team(), 'ada', 'west')).rejects.toThrow(
      'no team "west" in this project: there are none',
    );
  });

  test('that nobody but its sender would get is refused', async () => {
    const yaml = deskYaml.replace('team: south', 'team: alone');
    const of = await team(yaml);
    const before = of.events();
    await expect(announce(of, 'cleo', 'alone')).rejects.toMatchObject(refusedAs('team-empty'));
    const single = 'name: one\ntask: t\nbackend: {runner: {mode: mock}}\nagents: {ada: {role: r, prompt: p}}\n';
    await expect(announce(await team(single), 'ada')).rejects.toMatchObject(refusedAs('team-empty'));
    expect(of.events()).toEqual(before);
    expect(of.rows('SELECT 1 FROM messages')).toEqual([]);
  });
});
