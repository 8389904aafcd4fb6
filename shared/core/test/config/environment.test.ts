import { describe, expect, test } from '@jest/globals';
import { loadProjectText } from '@suzumio/core/profiles/load-project';
import { renderConfig } from '@suzumio/core/config/render-config';
import { brief, load, minimal, problemsIn, problemsOf } from './project-files.js';

const project = (task: string, rest = '') => `name: demo\ntask: ${task}\nagents:\n  a: { role: r, prompt: p }\n${rest}`;

describe('${NAME}', () => {
  test.each([
    ['$${NAME} $$${NAME} $NAME {NAME}', '${NAME} $${NAME} $NAME {NAME}'],
    ['${NAME}/${OTHER}', 'value/${NAME}'],
    ['${env:NAME}/${env:NONE:-none}', 'value/none'],
    ['${NONE:-a default}', 'a default'],
    ['${EMPTY:-used too}${EMPTY}', 'used too'],
    ['${NONE:-}.', '.'],
    ['"${YAML}"', 'a: [b]\n- c: "@import(d)"'],
    ['${IMPORT}', '@import(missing.md)'],
    ['${toString:-own variables only}', 'own variables only'],
  ])('%s is %j', (written, expected) => {
    const env = {
      NAME: 'value',
      OTHER: '${NAME}',
      EMPTY: '',
      YAML: 'a: [b]\n- c: "@import(d)"',
      IMPORT: '@import(missing.md)',
    };
    expect(load(project(written), env).config.task).toBe(expected);
  });

  test('stays a text, which numbers and flags accept as one', () => {
    const rest = 'turn: { maxSteps: "${N}" }\nbackend: { docker: { readOnlyRoot: "${FLAG}" } }\n';
    const { config } = load(project('t', rest), { N: '7', FLAG: 'false' });
    expect(config.turn.maxSteps).toBe(7);
    expect(config.backend.docker.readOnlyRoot).toBe(false);
    expect(problemsOf(project('t', rest), { env: { N: '[7]', FLAG: 'null' } }).map(brief)).toEqual([
      'value-invalid 5:19',
      'value-invalid 6:36',
    ]);
  });

  test('is left alone in keys and in imported text', () => {
    const { config } = load(
      {
        'project.yaml': `name: demo\ntask: @import(task.md)\nagents:\n  a: { role: r, prompt: p, env: { A: "\${A}" } }\n`,
        'task.md': '${A}',
      },
      { A: '1' },
    );
    expect(config.task).toBe('${A}');
    expect(problemsOf(project('t').replace('  a:', '  ${A}:'), { env: { A: 'b' } }).map(brief)).toEqual([
      'key-invalid 4:3',
    ]);
  });

  test('is substituted in imported YAML', () => {
    const files = { 'project.yaml': project('t', 'turn: @import(turn.yaml)'), 'turn.yaml': 'timeout: ${T}' };
    expect(load(files, { T: '5s' }).config.turn.timeout).toBe(5000);
    expect(problemsOf(files)).toMatchObject([{ code: 'variable-missing', file: 'turn.yaml', line: 1, column: 10 }]);
  });

  test('that is missing is named at its very place, each one', () => {
    const problems = problemsOf(project('|\n  first ${ONE}\n  and ${TWO} and ${ONE}'));
    expect(problems.map(brief)).toEqual(['variable-missing 3:9', 'variable-missing 4:7', 'variable-missing 4:18']);
    expect(problems[1]?.message).toBe('the environment has no variable TWO; set it, or write ${TWO:-default}');
  });

  test('that is none is kept, with a warning', () => {
    const loaded = load(project('"see ${item.name} and ${}"'));
    expect(loaded.config.task).toBe('see ${item.name} and ${}');
    expect(loaded.warnings.map(brief)).toEqual(['variable-malformed 2:12', 'variable-malformed 2:29']);
  });

  test('may be missing in fields that are read at run time', () => {
    const rest = `backend:
  docker: { network: bridge }
  controllerUrl: http://\${HOST}:\${PORT}/$\${X}
  runner:
    models:
      providers:
        local.one: { type: openai-compatible, baseURL: "\${URL}" }
`;
    const { config } = load(project('t', rest), { PORT: '80${A}' });
    expect(config.backend.controllerUrl).toBe('http://${HOST}:80$${A}/$${X}');
    expect(config.backend.runner.models?.providers['local.one']?.baseURL).toBe('${URL}');
    const rendered = renderConfig(config);
    expect(load(rendered, { HOST: 'h', URL: 'u' }).config).toEqual(config);
    expect(problemsIn(() => loadProjectText(rendered, 'p')).map((problem) => problem.code)).toEqual([
      'variable-refused',
      'variable-refused',
    ]);
  });

  test.each([
    'GITHUB_TOKEN',
    'PGPASSWORD',
    'AWS_SECRET_ACCESS_KEY',
    'apiKey',
    'DB_PWD',
    'GOOGLE_APPLICATION_CREDENTIALS',
    'SMTP_PASS',
    'NPM_AUTH',
    'AWS_CREDS',
    'SESSION_COOKIE',
    'SENTRY_DSN',
    'serviceJwt',
    'DB_PW',
  ])('never brings in what looks like a secret by its name: %s', (name) => {
    const written = [`\${${name}}`, `\${${name}:-none}`, `"$\${A} \${${name}}"`];
    for (const env of [{}, { [name]: 'planted' }]) {
      for (const text of written) {
        const problems = problemsOf(project(text), { env });
        expect(problems.map(({ code, line }) => `${code} ${String(line)}`)).toEqual(['variable-secret 2']);
        expect(JSON.stringify(problems)).not.toContain('planted');
      }
    }
  });

  test('of a secret is refused in imported data, in what is read at run time, and in a rendered file', () => {
    const files = { 'project.yaml': project('t', 'turn: @import(turn.yaml)'), 'turn.yaml': 'timeout: ${API_KEY}' };
    expect(problemsOf(files)).toMatchObject([{ code: 'variable-secret', file: 'turn.yaml', line: 1, column: 10 }]);
    const provider = (url: string) =>
      project(
        't',
        `backend: { runner: { models: { presets: {}, providers: { a: { type: openai-compatible, ${url} } } } } }\n`,
      );
    const asking = provider('baseURL: "https://models.example/${API_KEY}"');
    expect(problemsOf(asking).map(brief)).toEqual(['variable-secret 5:121']);
    const rendered = renderConfig(load(provider('baseURL: "https://models.example/HERE"')).config);
    const codes = problemsOf(rendered.replace('HERE', '${API_KEY}')).map(({ code }) => code);
    expect(codes).toEqual(['variable-secret']);
  });

  test('of a secret may be given to the container of an agent, and others of like names anywhere', () => {
    const harmless = ['MAX_TOKENS', 'PWD', 'MONKEY', 'COMPASS', 'BYPASS_CACHE', 'AUTHOR', 'GIT_AUTHOR_NAME', 'passage'];
    const env = { API_TOKEN: 'a', ...Object.fromEntries(harmless.map((name, index) => [name, String(index)])) };
    const inEnv = project('t').replace('prompt: p', 'prompt: p, env: { TOKEN: "${API_TOKEN}" }');
    expect(load(inEnv, env).config.agents['a']?.env).toBeDefined();
    const task = harmless.map((name) => `\${${name}}`).join(' ');
    expect(load(project(task), env).config.task).toBe(Object.keys(harmless).join(' '));
    const named = project('t').replace('a: {', 'env: {').replace('prompt: p', 'prompt: "${API_TOKEN}"');
    expect(problemsOf(named, { env }).map(({ code }) => code)).toEqual(['variable-secret']);
  });

  test('with a key in it may be given to the container of an agent, and to nobody by writing the key down', () => {
    const key = 'ghp_abcdefghij0123456789';
    const given = (text: string) => project('t').replace('prompt: p', `prompt: p, env: { TOKEN: "${text}" }`);
    const { config } = load(given('${GITHUB_TOKEN}'), { GITHUB_TOKEN: key });
    expect(config.agents['a']?.env).toEqual({ TOKEN: key });
    // Rendered for a server elsewhere, it holds what it stood for.
    expect(loadProjectText(renderConfig(config), 'p').config).toEqual(config);
    expect(problemsOf(given(key)).map(({ code, message }) => [code, message])).toEqual([
      ['secret-in-file', expect.stringContaining('${NAME}')],
    ]);
  });

  test('with a password in its address may be given to an agent, and stands nowhere else', () => {
    const env = { DATABASE: 'postgres://desk:hunter2@db.example:5432/desk' };
    const inEnv = project('t').replace('prompt: p', 'prompt: p, env: { URL: "${DATABASE}" }');
    expect(load(inEnv, env).config.agents['a']?.env).toEqual({ URL: env.DATABASE });
    const problems = problemsOf(project('Read ${DATABASE}.'), { env });
    expect(problems).toMatchObject([
      { code: 'secret-in-file', line: 2, message: expect.stringContaining('password in an address') as unknown },
    ]);
    expect(JSON.stringify(problems)).not.toContain('hunter2');
  });

  test('of a secret is told with how its name is written as text', () => {
    expect(problemsOf(project('Set ${API_KEY}.'))).toMatchObject([
      { code: 'variable-secret', message: expect.stringContaining('$${API_KEY}') as unknown },
    ]);
    expect(load(project('Set $${API_KEY}.')).config.task).toBe('Set ${API_KEY}.');
  });

  test('and imports are escaped by the renderer', () => {
    const task = '${A} $${A} @import(x)';
    const { config } = load({
      'project.yaml': project('@import(t.md)').replace('prompt: p', 'prompt: @import(p.md)'),
      't.md': task,
      'p.md': '@import(x)',
    });
    expect(config.task).toBe(task);
    const rendered = renderConfig(config);
    expect(rendered).toContain('$${A} $$${A} @import(x)');
    expect(rendered).toContain('"@@import(x)"');
    expect(load(rendered, { A: 'never' }).config).toEqual(config);
    expect(loadProjectText(rendered, 'p').config).toEqual(config);
  });
});

describe('a rendered file', () => {
  test('is taken literally', () => {
    const rendered = renderConfig(load(minimal()).config);
    const edited = rendered.replace('Do it.', '${HOME} ${NONE}').replace('prompt: Edit.', 'prompt: "@import(none.md)"');
    const { config } = load(edited, { HOME: '/root' });
    expect(config.task).toBe('${HOME} ${NONE}');
    expect(config.agents.editor?.prompt).toBe('@import(none.md)');
  });

  test('of another version is refused', () => {
    const rendered = renderConfig(load(minimal()).config).replace('rendered: 1', 'rendered: 2');
    expect(problemsOf(rendered).map(brief)).toEqual(['value-invalid 1:11']);
  });
});

describe('a posted file', () => {
  test('may be in the short form', () => {
    const { config } = loadProjectText(project('$${A}', 'turn: { timeout: 1m }'), 'posted.yaml');
    expect(config.task).toBe('${A}');
    expect(config.turn.timeout).toBe(60_000);
  });

  test('asks for nothing of the server', () => {
    const text = `extends: { turn: { timeout: 1m } }
name: demo
task: \${HOME} and \${HOME:-x}
agents:
  a: { role: r, prompt: @import(/etc/passwd), workspace: { from: data } }
  b: { role: r, prompt: p, workspace: { from: /srv/data }, skills: [s.md] }
backend: { docker: { mounts: [{ source: ./x, target: /x }] } }
tools: { toolpacks: [{ id: t, path: t }] }
`;
    const problems = problemsIn(() => loadProjectText(text, 'posted.yaml'));
    expect(problems.map(brief)).toEqual([
      'extends-refused 1:1',
      'field-unknown 1:1',
      'variable-refused 3:7',
      'variable-refused 3:19',
      'import-refused 5:25',
      'path-refused 5:66',
      'path-refused 6:69',
      'path-refused 7:41',
      'path-refused 8:37',
    ]);
  });
});
