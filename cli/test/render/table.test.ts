import { expect, test } from '@jest/globals';
import { table } from '@suzumio/cli/render/table';

const rows = [
  ['ada', '数値を確認する', 'P1'],
  ['ben', 'Check the figures', 'P1'],
];

test('columns are aligned where characters are wide', () => {
  expect(table(['AGENT', 'SUBJECT', 'PRIORITY'], rows, { columns: undefined, colors: false })).toEqual([
    'AGENT  SUBJECT            PRIORITY',
    'ada    数値を確認する     P1',
    'ben    Check the figures  P1',
  ]);
});

test('a line is no wider than its terminal', () => {
  expect(table(['AGENT', 'SUBJECT'], rows, { columns: 14, colors: false })).toEqual([
    'AGENT  SUBJECT',
    'ada    数値を…',
    'ben    Check …',
  ]);
});
