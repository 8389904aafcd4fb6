import type { SelectedMail } from '@suzumio/core/prompt/select-mail';
import type { PromptInput } from '@suzumio/core/prompt/render-prompt';

/** The prompt of a reporter's first turn, as the parts of `over` change it. */
export function newsroomPrompt(over: Partial<PromptInput> = {}): PromptInput {
  return {
    project: {
      name: 'newsroom',
      task: 'Write a 300-word bulletin on the river level from the gauge readings.\nEvery figure must be traceable to a published file.\n',
    },
    agent: {
      id: 'reporter-1',
      displayName: 'Akari',
      role: 'reporter',
      prompt: "Summarise your gauge's readings; publish the summary; tell the editor.",
    },
    team: [
      { id: 'editor', displayName: 'Yuki', role: 'editor' },
      { id: 'reporter-1', displayName: 'Akari', role: 'reporter' },
      { id: 'reporter-2', displayName: 'Ren', role: 'reporter' },
      { id: 'checker', displayName: 'Mio', role: 'fact checker' },
    ],
    channels: ['#newsroom'],
    skills: [],
    tools: ['messages.send', 'artifacts.publish'],
    mounts: [],
    mail: [newsroomMail()],
    unreadLeft: 0,
    ...over,
  };
}

/** The editor's message to the reporter. */
export function newsroomMail(over: Partial<SelectedMail> = {}): SelectedMail {
  return {
    id: 'msg_01KB3Z8T5V0000000000000001',
    seq: 2,
    priority: 'P1',
    sender: 'editor',
    recipient: 'reporter-1',
    kind: 'direct',
    threadId: 'msg_01KB3Z8T5V0000000000000001',
    body: 'The north gauge, please. Readings are in north.csv.',
    createdAtMs: Date.parse('2026-11-21T20:14:03.217Z'),
    cut: false,
    leftOutBytes: 0,
    attachments: [],
    ...over,
  };
}
