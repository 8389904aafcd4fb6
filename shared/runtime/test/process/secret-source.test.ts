import { expect, test } from '@jest/globals';
import { createRedactor } from '@suzumio/runtime/observability/redactor';
import { environmentSecrets } from '@suzumio/runtime/process/secret-source';

const read = (value: string | undefined) => {
  const redactor = createRedactor();
  const key = environmentSecrets({ KEY: value }, redactor).read('KEY');
  return { key, logged: redactor.redact(`it was ${String(value)}`) };
};

test('a key is read without the blanks around it, and taken out of the log from then on', () => {
  expect(read(' sk-0123456789\n')).toMatchObject({ key: 'sk-0123456789', logged: expect.not.stringContaining('sk-') });
});

test.each(['', '  ', undefined])('a variable that holds %j is not set', (value) => {
  expect(read(value).key).toBeUndefined();
});

test('a word that a local server is given for a key is one, too', () => {
  expect(read('ollama')).toEqual({ key: 'ollama', logged: 'it was ollama' });
});
