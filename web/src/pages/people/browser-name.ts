/** The first that is named counts: most browsers also name those that they resemble. */
const browsers: readonly [pattern: RegExp, name: string][] = [
  [/\bEdg(e|A|iOS)?\/(\d+)/, 'Edge'],
  [/\b(OPR|Opera)\/(\d+)/, 'Opera'],
  [/\b(Firefox|FxiOS)\/(\d+)/, 'Firefox'],
  [/\b(HeadlessChrome|Chrome|CriOS|Chromium)\/(\d+)/, 'Chrome'],
  [/\b(Version)\/(\d+).* Safari\//, 'Safari'],
];
const systems: readonly [pattern: RegExp, name: string][] = [
  [/iPhone/, 'iPhone'],
  [/iPad/, 'iPad'],
  [/Android/, 'Android'],
  [/CrOS/, 'ChromeOS'],
  [/Windows/, 'Windows'],
  [/Mac OS X|Macintosh/, 'macOS'],
  [/Linux|X11/, 'Linux'],
];

const mostChars = 40;

/** What a browser called itself, made short: `Firefox 144 on Linux`. What is not known stays as it is, cut. */
export function browserName(agent: string): string {
  const [pattern, name] = browsers.find(([one]) => one.test(agent)) ?? [];
  const system = systems.find(([one]) => one.test(agent))?.[1];
  if (pattern === undefined || name === undefined) {
    if (agent === '') return 'A browser without a name';
    return agent.length > mostChars ? `${agent.slice(0, mostChars)}…` : agent;
  }
  const version = pattern.exec(agent)?.[2];
  return `${name} ${version ?? ''}${system === undefined ? '' : ` on ${system}`}`;
}
