import { expect, test } from '@jest/globals';
import type { ConversationEntry } from '@suzumio/contract/model/conversation';
import { renderConversation } from '../src/render/conversation.js';

test('what a model asked for is shown as it wrote it, on one line', () => {
  const written = '{"path":"log.txt","find":"a  b",\n\t"replace":"a b"}';
  const answer: ConversationEntry = {
    ...{
      seq: 1,
      kind: 'answer',
      role: 'assistant',
      step: '0',
      attempt: 1,
      text: '',
      thoughts: '',
      cutChars: 0,
      code: null,
      answer: null,
    },
    ...{ call: null, tool: null, input: null, status: null, startedAt: null, endedAt: null },
    calls: [{ id: 'call_1', name: 'file_replace', arguments: written }],
    moreCalls: 0,
  };
  expect(renderConversation({ attempt: 1, modelCalls: [] }, [answer])).toContain(
    '  calls file_replace {"path":"log.txt","find":"a  b", \t"replace":"a b"}',
  );
});
