import { describe, expect, test } from '@jest/globals';
import { type ConfigProblemCode, ConfigErrors } from '@suzumio/core/config/config-problem';
import { brief, load, minimal, problemsIn, problemsOf } from './project-files.js';

/** A file in which every field that can be wrong is right; each case below breaks one line of it. */
const right = `name: demo
task: Do it.
channels:
  - "#all"
  - { name: "#desk", members: [editor, worker] }
scheduler: { kind: nonpreemptive-mailbox, maxPromptMessages: 20, maxPromptBytes: 64k }
backend:
  kind: docker
  image: runner:1
  docker:
    memory: 1g
    tmpfs: { /tmp: 1m }
    keep: failed
  runner:
    mode: mock
    model: fast
    script:
      - agent: worker
        when: { turn: 1 }
        steps:
          - tool: messages.send
            input: { recipient: editor }
          - wait: 200ms
    models:
      providers:
        local: { type: openai-compatible, baseURL: "http://x/v1", apiKeyEnv: LOCAL_KEY, headers: { X-Team: a } }
      presets:
        fast: { provider: local, model: m, price: { input: 1, output: 2 } }
        any: { model-list: [fast] }
agents:
  editor:
    role: editor
    prompt: Edit.
    model: any
    tools: [messages.send, "artifacts.*", "*"]
  worker:
    role: worker
    prompt: Work.
    count: 2
    names: [Ada, Bo]
    tools:
      - coordination.no_valuable_work
tools: { toolpacks: [core] }
turn: { timeout: 15m, maxAttempts: 3 }
budget: { usd: 1.5 }
`;

/**
 * What is shown, the text that is replaced, its replacement with `»` where the problem is, its code, and what its
 * message says.
 */
const cases: [string, string, string, ConfigProblemCode, RegExp][] = [
  ['a misspelt field', 'agents:', '»agnets:', 'field-unknown', /`agnets`: did you mean `agents`\?/],
  ['a field like no other', 'budget:', '»colour:', 'field-unknown', /known are name, task/],
  ['a misspelt field deep inside', 'maxAttempts', '»maxAttemps', 'field-unknown', /turn `maxAttemps`: did/],
  ['a misspelt field of an agent', 'count: 2', '»coutn: 2', 'field-unknown', /`coutn`: did you mean `count`/],
  ['a missing task', 'name: demo\ntask: Do it.\n', '»name: demo\n', 'field-missing', /^task: is required/],
  ['an empty task', 'Do it.', '»"  "', 'value-invalid', /must not be empty/],
  ['no task at all', 'task: Do it.', 'task:»', 'value-invalid', /expected a text, got nothing/],
  ['a number as a name', 'demo', '»12', 'value-invalid', /got a number \(put quotes around it\)/],
  ['a name that is no id', 'demo', '»My Demo', 'value-invalid', /^name: expected 1 to 63.*: write name: my-demo$/],
  ['an object for a text', 'Edit.', '»{ a: b }', 'value-invalid', /expected a text, got an object/],
  ['a role of two lines', 'role: editor', 'role: »"a\\nb"', 'value-invalid', /one line/],
  ['an unknown choice', 'failed', '»faild', 'value-invalid', /never, failed, always; did you mean failed/],
  ['an unknown backend', 'kind: docker', 'kind: »podman', 'value-invalid', /one of docker, process/],
  ['another scheduler', 'nonpreemptive-mailbox', '»fifo', 'value-invalid', /nonpreemptive-mailbox/],
  [
    'a slip in the only choice',
    'nonpreemptive-mailbox',
    '»nonpreemptive-mailbo',
    'value-invalid',
    /: expected nonpreemptive-mailbox$/,
  ],
  ['a number too small', 'maxPromptMessages: 20', 'maxPromptMessages: »0', 'value-invalid', /at least 1/],
  ['a number too large', 'maxPromptMessages: 20', 'maxPromptMessages: »5000', 'value-invalid', /at most 1000/],
  ['a fraction', 'count: 2', 'count: »2.5', 'value-invalid', /a whole number, got a number/],
  ['no duration', '15m', '»soon', 'value-invalid', /^turn\.timeout: not a duration/],
  ['a duration without a unit', '15m', '»"3"', 'value-invalid', /^turn\.timeout: .* such as 3s or 3ms/],
  ['a list as a duration', '15m', '»[15m]', 'value-invalid', /expected a duration.*got a list/],
  ['a duration beyond what timers hold', '15m', '»25d', 'value-invalid', /at most 2147483647/],
  ['no size', '1g', '»big', 'value-invalid', /not a size/],
  ['too little memory', '1g', '»1m', 'value-invalid', /at least 16777216/],
  ['a relative mount of memory', '/tmp: 1m', '»tmp: 1m', 'key-invalid', /absolute path in the container/],
  [
    'no agents',
    right.slice(right.indexOf('agents:'), right.indexOf('tools: {')),
    'agents: »{}\n',
    'value-invalid',
    /at least one/,
  ],
  ...(
    [
      ['no workspace', 'workspace: »{ depth: 1 }', /^agents\.editor\.workspace: a workspace needs either from or git$/],
      ['two workspaces', 'workspace: »{ from: a, git: b }', /needs either from or git/],
      [
        'a branch of no repository',
        'workspace: »{ from: a, branch: b }',
        /ref, depth and branch are of a workspace with git/,
      ],
      [
        'an address for ssh',
        'workspace: { git: »"ssh://git@x.example/a" }',
        /ssh:\/\/ is not cloned: write https:\/\/host\/path/,
      ],
      [
        'an address as for scp',
        'workspace: { git: »"git@x.example:a/b.git" }',
        /only https:\/\/ addresses and paths are cloned/,
      ],
      [
        'a command for an address',
        'workspace: { git: »"ext::sh -c id" }',
        /only https:\/\/ addresses and paths are cloned/,
      ],
      ['a path as an address', 'workspace: { git: »"file:///srv/a" }', /write the path itself/],
      ['an address with a user', 'workspace: { git: »"https://yuki@x.example/a" }', /must name no user/],
      ['an address with a token', 'workspace: { git: »"https://x.example/a?t=1" }', /must have no \?/],
      ['a pattern of repositories', 'workspace: { git: »"/srv/*" }', /must not hold \*/],
      ['an option as a ref', 'workspace: { git: /a, ref: »--upload-pack=x }', /the name of a branch or a tag/],
      ['a range as a ref', 'workspace: { git: /a, ref: »a..b }', /the name of a branch or a tag/],
      ['two refs', 'workspace: { git: /a, ref: »"a:b" }', /the name of a branch or a tag/],
      ['a branch with a space', 'workspace: { git: /a, branch: »"a b" }', /stands for the agent's id/],
      ['a branch for what is unknown', 'workspace: { git: /a, branch: »"x/{{role}}~" }', /stands for the agent's id/],
      ['no history', 'workspace: { git: /a, depth: »0 }', /at least 1/],
    ] as const
  ).map(
    ([name, field, message]) =>
      [
        name,
        '    role: editor\n',
        `    role: editor\n    ${field}\n`,
        'value-invalid',
        message,
      ] as (typeof cases)[number],
  ),
  ['an agent id with a space', '  editor:', '  »chief editor:', 'key-invalid', /a-z/],
  ['the id of the person', '  editor:', '  »user:', 'key-invalid', /reserved/],
  ['an id of digits', '  editor:', '  »42:', 'key-invalid', /digits only/],
  ['the id of the system', '  editor:', '  »system:', 'key-invalid', /"system" is reserved for notices/],
  [
    'a team in capitals',
    '    role: editor\n',
    '    role: editor\n    team: »Desk\n',
    'value-invalid',
    /1 to 63 of a-z/,
  ],
  [
    'a team of all',
    '    role: editor\n',
    '    role: editor\n    team: »all\n',
    'value-invalid',
    /"all" stands for all/,
  ],
  [
    'an id that a counted agent has too',
    'tools: {',
    '  »worker-2: { role: r, prompt: p }\ntools: {',
    'agent-duplicate',
    /worker-2/,
  ],
  ['too many agents', 'count: 2', 'count: »2000', 'value-invalid', /at most 1000/],
  [
    'a misspelt tool',
    '[messages.send',
    '[»messages.sned',
    'tool-unknown',
    /^unknown tool "messages\.sned" for agent editor: did you mean messages\.send\?$/,
  ],
  ['a misspelt namespace', '"artifacts.*"', '»"artifact.*"', 'tool-unknown', /did you mean artifacts\.\*\?/],
  ['a tool like no other', '- coordination.no_valuable_work', '- »fly', 'tool-unknown', /known are/],
  [
    'a tool of a pack that is not listed',
    '[messages.send',
    '[»shell.exec',
    'toolpack-missing',
    /in the toolpack shell: the project has to list it, as in "tools: \{ toolpacks: \[shell\] \}"$/,
  ],
  ['an unknown toolpack', '[core]', '[»cores]', 'value-invalid', /did you mean core/],
  ['a channel of two words', '"#all"', '»all of us', 'value-invalid', /expected # and then/],
  ['a channel without quotes', '- "#all"', '- »#all', 'value-invalid', /a text that begins with # needs quotes/],
  [
    'a channel twice',
    '"#all"\n  - { name: "#desk"',
    '"#desk"\n  - { name: »"#desk"',
    'name-duplicate',
    /two channels #desk/,
  ],
  ['a header that leads elsewhere', '{ X-Team: a }', '{ »Host: a }', 'key-invalid', /not for a project file to set/],
  ['a header that is none', '{ X-Team: a }', '{ »"X Team": a }', 'key-invalid', /the name of an HTTP header/],
  ['a header that cannot be sent', '{ X-Team: a }', '{ X-Team: »é }', 'value-invalid', /printable ASCII/],
  ['an unknown member', '[editor, worker]', '[editor, »wroker]', 'agent-unknown', /did you mean worker/],
  ['a member twice', '[editor, worker]', '[editor, »editor]', 'name-duplicate', /twice a member/],
  ['a misspelt field of a channel', 'members:', '»member:', 'field-unknown', /did you mean `members`/],
  ['an unknown agent in the script', '- agent: worker', '- agent: »wroker', 'agent-unknown', /did you mean worker/],
  [
    'an unknown tool of a step',
    '- tool: messages.send',
    '- tool: »messages.sned',
    'tool-unknown',
    /a step: did you mean messages.send/,
  ],
  ['a misspelt condition', '{ turn: 1 }', '{ »trun: 1 }', 'field-unknown', /did you mean `turn`/],
  ['a misspelt step', '- wait: 200ms', '- »wiat: 200ms', 'field-unknown', /`wiat`: did you mean `wait`/],
  ['two steps in one', '- wait: 200ms', '- »{ wait: 1, hang: true }', 'value-invalid', /expected one of/],
  ['a misspelt part of a step', 'input:', '»inptu:', 'field-unknown', /did you mean `input`/],
  ['a duration that is none in a step', '200ms', '»200 miles', 'value-invalid', /not a duration/],
  [
    'a misspelt toolpack',
    '[core]',
    '[core, »shel]',
    'value-invalid',
    /^tools\.toolpacks\[1\]: expected one of core, memory, files, shell, workspace, or \{ path: DIRECTORY \}; did you mean shell\?$/,
  ],
  [
    'a toolpack like one that is not served',
    '[core]',
    '[»wbe]',
    'value-invalid',
    /expected one of core, memory, files, shell, workspace, or \{ path: DIRECTORY \}$/,
  ],
  ['an unknown preset', 'model: any', 'model: »an', 'preset-unknown', /"an": did you mean any/],
  ['an unknown preset of the project', 'model: fast', 'model: »fats', 'preset-unknown', /did you mean fast/],
  [
    'a preset without a price beside a budget in dollars',
    'fast: { provider: local, model: m, price: { input: 1, output: 2 } }',
    'fast: »{ provider: local, model: m }',
    'price-missing',
    /preset fast has no price/,
  ],
  [
    'a price below zero',
    '{ input: 1,',
    '{ input: 1, cached: »-0.1,',
    'value-invalid',
    /price\.cached: must be at least 0$/,
  ],
  ['an unknown preset in a list', '[fast]', '[»slow]', 'preset-unknown', /known are fast, any/],
  [
    'a list of presets that turns back',
    '{ model-list: [fast] }',
    '»{ model-list: [fast, any] }',
    'preset-cycle',
    /back to itself/,
  ],
  ['an unknown provider', 'provider: local', 'provider: »locale', 'provider-unknown', /did you mean local/],
  [
    'a preset without a provider',
    'fast: { provider: local, model: m,',
    '»fast: { model: m,',
    'field-missing',
    /fast\.provider: is required/,
  ],
  [
    'a provider without an address',
    '{ type: openai-compatible, baseURL: "http://x/v1",',
    '»{ type: openai-compatible,',
    'value-invalid',
    /either baseURL or baseURLEnv/,
  ],
  ['an address that is none', '"http://x/v1"', '»nonsense', 'value-invalid', /local\.baseURL: expected .* https:\/\//],
  ['an address without its scheme', '"http://x/v1"', '»"api.x:443/v1"', 'value-invalid', /begins with http/],
  ['an address of a file', '"http://x/v1"', '»"file:///v1"', 'value-invalid', /begins with http/],
  ['a key instead of its variable', 'LOCAL_KEY', '»sk-abcdefghijklmnop1234567', 'secret-in-file', /apiKeyEnv/],
  ['a key in a prompt', 'Work.', '"Use »sk-ant-api03-abcdefghijk"', 'secret-in-file', /looks like a key/],
  ['a credential in a header', 'X-Team: a', 'Authorization: »Bearer abc', 'secret-in-file', /looks like a key/],
  ['a missing variable', 'Work.', '"for »${WHOM}"', 'variable-missing', /no variable WHOM/],
  ['a key twice', 'task: Do it.', 'task: Do it.\n»name: again', 'duplicate-key', /a second time/],
  ['a merge key', '    role: worker', '    »<<: {}\n    role: worker', 'yaml-unsupported', /extends/],
  ['a tag', 'Work.', '»!secret Work.', 'yaml-unsupported', /tags are not understood/],
  ['a directive', 'name: demo', '»%YAML 1.1\n---\nname: demo', 'yaml-unsupported', /directives/],
  ['an alias to nothing', 'Work.', '»*text', 'alias-unknown', /\*text/],
  ['an alias to what holds it', '{ turn: 1 }', '&a { turn: »*a }', 'alias-unknown', /\*a/],
  ['the key __proto__', '    role: worker', '    »__proto__: {}\n    role: worker', 'key-invalid', /plain name/],
  ['a key that is a list', '    role: worker', '    ? »[a]\n    : b\n    role: worker', 'key-invalid', /plain name/],
  ['a bad indentation', '    prompt: Work.', '»   prompt: Work.', 'yaml-syntax', /same column/],
  [
    'a key that begins too far right',
    '    role: worker',
    '   role: »worker',
    'yaml-syntax',
    /begin in the same column/,
  ],
  [
    'a colon in a plain text',
    'prompt: Work.',
    'prompt: »Work: do it.',
    'yaml-syntax',
    /put quotes around a text that has a colon/,
  ],
  ['a reserved character', 'Work.', '»@import(a', 'yaml-syntax', /put quotes around the value/],
  ['two documents', 'budget:', '»---\nbudget:', 'document-count', /one YAML document/],
  ['half a surrogate pair', 'Work.', '»"\\ud800"', 'text-invalid', /surrogate/],
  ['an invalid extends', 'task: Do it.', 'task: Do it.\nextends: [»base.yaml]', 'extends-invalid', /usually imports/],
];

describe('what is wrong with a project file is told with its place', () => {
  test('nothing is wrong with the file that the cases break', () => {
    expect(problemsOf(right)).toEqual([]);
  });

  test.each(cases)('%s', (_what, from, to, code, message) => {
    expect(right).toContain(from);
    const marked = right.replace(from, () => to);
    const before = marked.slice(0, marked.indexOf('»')).split('\n');
    const expected = `${code} ${before.length}:${(before.at(-1)?.length ?? 0) + 1}`;
    const problems = problemsOf(marked.replace('»', ''));
    expect(problems.map(brief)).toContain(expected);
    expect(problems.find((problem) => brief(problem) === expected)?.message).toMatch(message);
  });

  test('all of it at once, in the order of the lines', () => {
    const text = right
      .replace('task: Do it.', 'task: ${WHAT}')
      .replace('keep: failed', 'keep: faild')
      .replace('[messages.send', '[messages.sned')
      .replace('timeout: 15m', 'timeout: soon')
      .replace('budget:', 'bugdet:');
    expect(problemsOf(text).map(brief)).toEqual([
      'variable-missing 2:7',
      'value-invalid 13:11',
      'tool-unknown 35:13',
      'value-invalid 44:18',
      'field-unknown 45:1',
    ]);
  });

  test('as lines that an editor understands, in one typed error', () => {
    let thrown: unknown;
    try {
      load(minimal('    tools: [messages.sned]\ntrun: {}\n'));
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(ConfigErrors);
    const error = thrown as ConfigErrors;
    expect(error.code).toBe('invalid-config');
    expect(error.message.replaceAll(/^.*\//gm, '')).toBe(
      'project.yaml:7:13  unknown tool "messages.sned" for agent editor: did you mean messages.send?\n' +
        'project.yaml:8:1  unknown field `trun`: did you mean `turn`?',
    );
    expect(error.details.problems).toEqual(error.message.split('\n'));
  });

  test('a secret never, wherever else its value is wrong', () => {
    const secret = 'sk-proj-Abcdefghijklmnop12345678';
    for (const text of [
      minimal(`    tools: [${secret}]\n`),
      minimal(`backend: { docker: { keep: ${secret}, memory: ${secret} } }\n`),
      minimal(`turn: { timeout: ${secret} }\n`),
      minimal('    model: "${ANY}"\n'),
    ]) {
      const problems = problemsOf(text, { env: { ANY: secret } });
      expect(problems.map((problem) => problem.code)).toContain('secret-in-file');
      expect(JSON.stringify(problems)).not.toContain(secret);
    }
  });

  test('a member that names an entry of counted agents is unknown in a rendered file', () => {
    const text = `rendered: 1\nchannels: [{ name: "#a", members: [worker] }]\nagents:\n  worker-1: { base: worker }\n`;
    expect(problemsOf(text).map(brief)).toContain('agent-unknown 2:36');
  });

  test('a maintainer of the shared repository that is no agent', () => {
    const text = (maintainer: string) =>
      `name: a\ntask: b\ngit: { shared: true, maintainers: [${maintainer}] }\nagents:\n  worker: { role: c, prompt: d, count: 2 }\n`;
    expect(problemsOf(text('wroker')).map(brief)).toEqual(['agent-unknown 3:36']);
    // The entry stands for its agents.
    for (const known of ['worker', 'worker-2']) expect(problemsOf(text(known))).toEqual([]);
  });

  test('a file that is not there', () => {
    expect(problemsOf({ 'other.yaml': '' }).map(brief)).toEqual(['file-missing 1:1']);
  });

  test('no more than two hundred lines of it', () => {
    const fields = Array.from({ length: 500 }, (_, index) => `field${index}: 1`).join('\n');
    const problems = problemsIn(() => load(minimal(fields)));
    expect(problems.length).toBeLessThanOrEqual(201);
  });
});
