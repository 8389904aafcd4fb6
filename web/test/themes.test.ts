import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const theme = join(import.meta.dirname, '../src/theme/tokens.css');
const sources = join(import.meta.dirname, '..');

// So the tests of whole pages look for what is in anybody's way in light, and in dark for what colours do alone.
test('dark differs from light in colours, and in nothing else', async () => {
  const asking: string[] = [];
  for await (const file of glob('{src/**/*.{ts,tsx,css},*.html}', { cwd: sources })) {
    const text = await readFile(join(sources, file), 'utf8');
    const isOfBrowserBar = (line: string) => line.includes('<meta name="theme-color"');
    if (text.split('\n').some((line) => line.includes('prefers-color-scheme') && !isOfBrowserBar(line)))
      asking.push(file);
    expect({ file, isFixed: text.includes('light-dark(') }).toEqual({ file, isFixed: false });
  }
  expect(asking).toEqual(['src/theme/tokens.css']);
  const [light = '', dark = ''] = (await readFile(theme, 'utf8')).split('@media (prefers-color-scheme: dark)');
  const coloursIn = (text: string) => [...text.matchAll(/^ *(--[\w-]+): #[0-9a-f]{6};$/gm)].map(([, name]) => name);
  const settings = dark.split('\n').filter((line) => line.trim().endsWith(';'));
  expect(coloursIn(dark)).toHaveLength(settings.length);
  expect(coloursIn(light)).toEqual(expect.arrayContaining(coloursIn(dark)));
});
