import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from '@jest/globals';
import type * as z from 'zod';
import { messageListAnswer } from '../../shared/contract/src/operations/messages.js';
import { taskListAnswer } from '../../shared/contract/src/operations/tasks.js';
import { messageDetail, type MessageDetail } from '../../shared/contract/src/model/message.js';
import { count, overlappingAttempts } from './outcomes.js';
import { brokenInvariants, openProject } from './project.js';
import type { Stack } from './stack.js';

/** Where the example is. */
export const researchTeam = fileURLToPath(new URL('../../examples/research-team', import.meta.url));

const researchers = ['researcher-1', 'researcher-2', 'researcher-3'];

/** What each task has to be answered with, by how its text begins. */
function findings(): Map<string, string> {
  const rows = readFileSync(join(researchTeam, 'suppliers', 'suppliers.csv'), 'utf8')
    .trim()
    .split('\n')
    .slice(1);
  return new Map(
    rows.map((row, index) => {
      const [name = '', price = '', days = '', onTime = ''] = row.split(',');
      const source = `suppliers.csv, line ${String(index + 2)}`;
      return [name, `${name}: ${price} a piece, ${days} days, ${onTime} % on time (${source})`];
    }),
  );
}

async function read<Schema extends z.ZodType>(stack: Stack, schema: Schema, path: string): Promise<z.output<Schema>> {
  const { status, body } = await stack.api('GET', `/projects/research-team${path}`);
  expect({ path, status }).toEqual({ path, status: 200 });
  return schema.parse(body);
}

/** Checks every message that the team has written, and what became of each, once the report is submitted. */
export async function expectEveryLinkAndReceipt(stack: Stack): Promise<void> {
  const { items: messages } = await read(stack, messageListAnswer, '/messages?limit=1000');
  const byId = new Map<string, MessageDetail>();
  for (const { id } of messages) byId.set(id, await read(stack, messageDetail, `/messages/${id}`));
  const [request] = messages;
  expect(request).toMatchObject({ sender: 'user', recipient: 'manager', kind: 'direct', replyTo: null });

  const { items: tasks } = await read(stack, taskListAnswer, '/tasks');
  const wanted = findings();
  expect(tasks.map(({ excerpt }) => excerpt.split(':')[0])).toEqual([...wanted.keys()]);
  expect([...new Set(tasks.map(({ assignee }) => assignee))].sort()).toEqual(researchers);
  for (const task of tasks) {
    expect(task).toMatchObject({ assigner: 'manager', role: 'researcher', team: null, state: 'done' });
    const thread = await read(stack, messageListAnswer, `/threads/${task.id}`);
    const link = { threadId: task.id, replyTo: task.id, kind: 'reply', sender: task.assignee };
    const answer = wanted.get(task.excerpt.split(':')[0] ?? '');
    expect(thread.items).toMatchObject([
      { id: task.id, threadId: task.id, replyTo: null, kind: 'task', sender: 'manager', recipient: task.assignee },
      { ...link, recipient: 'user', body: 'I look it up.' },
      { ...link, id: task.stateMessage, recipient: 'manager', body: answer },
    ]);
  }

  const announcements = messages.filter(({ kind }) => kind === 'broadcast');
  expect(announcements).toMatchObject([{ sender: 'manager', recipient: '@research', replyTo: null }]);
  const [announcement] = announcements;
  expect(announcement?.attachments).toMatchObject([{ name: 'comparison.md' }]);
  const consent = await read(stack, messageListAnswer, `/threads/${announcement?.id ?? ''}`);
  expect(consent.items.map(({ replyTo }) => replyTo)).toEqual([null, ...researchers.map(() => announcement?.id)]);
  expect(
    consent.items
      .slice(1)
      .map(({ sender }) => sender)
      .sort(),
  ).toEqual(researchers);
  // The request, ten tasks with two answers each, an announcement with three.
  expect(messages).toHaveLength(1 + 10 * 3 + 1 + 3);

  for (const message of byId.values()) {
    const to = message.recipient === '@research' ? researchers : [message.recipient].filter((one) => one !== 'user');
    expect(message.receipts.map(({ agent }) => agent)).toEqual(to);
    for (const { agent, unread, reads } of message.receipts) {
      expect({ message: message.seq, agent, unread, reads }).toMatchObject({
        unread: false,
        reads: [{ status: 'completed', failure: null, undelivered: false, voidedAt: null }],
      });
      expect(reads[0]?.attempts.at(-1)).toMatchObject({ status: 'completed' });
    }
  }
  // A message at a time: as many turns as there are receipts, and none of them twice.
  const receipts = [...byId.values()].flatMap((message) => message.receipts);
  const turns = new Set(receipts.flatMap(({ reads }) => reads.map(({ turn }) => turn)));
  expect(turns.size).toBe(receipts.length);

  const report = await fetch(`${stack.url}/api/projects/research-team/report`, {
    headers: { authorization: `Bearer ${stack.adminToken()}` },
  });
  expect(report.headers.get('suzumio-report-version')).toBe('1');
  const text = await report.text();
  for (const finding of wanted.values()) expect(text).toContain(/\((.*)\)/.exec(finding)?.[1]);

  const database = openProject(stack.root, 'research-team');
  try {
    expect(brokenInvariants(database)).toEqual([]);
    expect(overlappingAttempts(database)).toEqual([]);
    expect(count(database, `turns WHERE status <> 'completed'`)).toBe(0);
    expect(count(database, 'turns')).toBe(turns.size);
  } finally {
    database.close();
  }
}
