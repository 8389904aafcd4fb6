import { expect, test } from '@jest/globals';
import { jsonFault } from '@suzumio/runtime/http/json-fault';

test.each([
  ['', 'it is empty'],
  [' \n', 'it is empty'],
  ['{"a": [1, 2', 'it ends too early'],
  ['{"a": "open', 'it ends too early'],
  ['{"a": tru', 'it ends too early'],
  ['{"a": -', 'it ends too early'],
  ['{"a": editor}', 'unexpected text at line 1, column 7'],
  ['{"a": trux}', 'unexpected text at line 1, column 10'],
  ['{a: 1}', 'unexpected text at line 1, column 2'],
  ['{"a": 1,\n "b": 2,\n}', 'unexpected text at line 3, column 1'],
  ['{"a": 1}}', 'unexpected text at line 1, column 9'],
  ['{"a": "\\x"}', 'unexpected text at line 1, column 9'],
  ['x', 'unexpected text at line 1, column 1'],
])('%j: %s', (text, fault) => {
  expect(jsonFault(text)).toBe(fault);
});
