import { expect, test } from '@jest/globals';
import { reportPage } from '@suzumio/cli/report/report-page';

const page = (text: string, ...files: [name: string, content: string][]) =>
  reportPage({
    project: 'tides',
    version: 2,
    text,
    files: files.map(([name, content]) => ({ name, sizeBytes: content.length, content: Buffer.from(content) })),
  });
const bodyOf = (html: string) => /<main[^>]*>\n([^]*)<\/main>/.exec(html)?.[1] ?? '';

test('pictures and links of a report are those of the files that the page holds', () => {
  const html = page(
    '# Tides\n\n![The plot](./plots/levels.png) and [the readings](north%20gauge.csv).',
    ['plots/levels.png', 'PNG'],
    ['north gauge.csv', 'a,b\n1,<2>\n'],
  );
  expect(bodyOf(html)).toContain(
    `<img src="data:image/png;base64,${Buffer.from('PNG').toString('base64')}" alt="The plot">`,
  );
  expect(bodyOf(html)).toContain('<a href="#file-1">the readings</a>');
  expect(html).toContain('<article id="file-1"><h3>north gauge.csv</h3>');
  expect(html).toContain('<pre tabindex="0">a,b\n1,&lt;2&gt;\n</pre>');
  expect(html).toContain(`download="levels.png" href="data:application/octet-stream;base64,`);
});

test.each([
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '[a](javascript:alert(1))',
  '[a](data:text/html;base64,PHNjcmlwdD4=)',
  '![a](https://example.org/pixel.png)',
  '![a](//example.org/pixel.png)',
  '![a](file:///etc/passwd)',
  '[a](file:///etc/passwd)',
  '![a" onerror="alert(1)](x.png)',
  '![a](x.png"onerror="alert(1))',
  '<https://example.org/"onclick="alert(1)>',
  '| <style>*{}</style> |\n| --- |\n| <iframe src=x> |',
])('nothing runs and nothing is loaded of %j', (text) => {
  const html = page(text, ['a.svg', '<svg onload="alert(1)"/>'], ['"><script>.txt', '</pre><script>']);
  const tags = [...html.matchAll(/<([a-z]+)((?:\s+[a-z-]+(?:="[^"]*")?)*)\s*>/g)].map(
    ([, tag = '', attributes = '']) => ({
      tag,
      names: [...attributes.matchAll(/(?:^|\s)([a-z-]+)="[^"]*"/g)].map(([, name]) => name),
      sources: [...attributes.matchAll(/src="([^"]*)"/g)].map(([, source]) => source),
      links: [...attributes.matchAll(/href="([^"]*)"/g)].map(([, link]) => link),
    }),
  );
  expect(tags.map(({ tag }) => tag)).not.toContain('script');
  expect(tags.map(({ tag }) => tag)).not.toContain('iframe');
  expect(html.match(/<style>/g)).toHaveLength(1);
  expect(tags.flatMap(({ names }) => names).filter((name = '') => name.startsWith('on'))).toEqual([]);
  for (const source of tags.flatMap(({ sources }) => sources)) expect(source).toMatch(/^data:image\//);
  for (const link of tags.flatMap(({ links }) => links))
    expect(link).toMatch(/^(?:https:\/\/|#|data:application\/octet-stream;)/);
});

test('what is too large for the page is said to be', () => {
  const html = reportPage({
    project: 'tides',
    version: 1,
    text: 'See all.bin.',
    files: [{ name: 'all.bin', sizeBytes: 9_000_000, left: 'Too large: suzumio artifacts get tides art_1' }],
  });
  expect(html).toContain('Too large: suzumio artifacts get tides art_1');
  expect(html).not.toContain('download=');
});
