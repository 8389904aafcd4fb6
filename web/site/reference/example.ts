import { type Description, type DescribedOperation, type JsonSchema, looked } from './description.js';

/** What examples say, by the name of a parameter or field; anything else is made from its schema. */
const usual: Readonly<Record<string, unknown>> = {
  project: 'newsroom',
  agent: 'editor',
  agents: ['editor'],
  recipient: 'editor',
  channel: '#newsroom',
  role: 'reporter',
  message: '12',
  thread: '12',
  turn: 'editor:1',
  artifact: 'north-summary.md',
  attachments: ['north-summary.md'],
  profile: 'Yuki',
  nickname: 'Yuki',
  note: 'note_01KB3Z8T5V0000000000000001',
  text: 'Give levels in centimetres.',
  tags: ['style'],
  persona: 'Writes short and exact sentences.',
  team: 'desk',
  token: 'ci',
  session: 'S1',
  name: 'desk',
  scope: 'read',
  q: 'river',
  from: 'main',
  to: 'refs/heads/draft',
  path: 'north.csv',
  body: 'Tonight’s bulletin, please.',
  because: 'It names a person.',
  reason: 'Until the gauge is mended.',
  description: 'Those who write.',
  usd: 5,
  code: 'CODE',
  file: [
    'name: bulletin',
    'task: Write a short bulletin.',
    'backend:',
    '  runner: { mode: mock, script: [{ agent: editor, steps: [{ text: Written. }] }] }',
    'agents:',
    '  editor: { role: editor, prompt: Write. }',
    '',
  ].join('\n'),
};

/** What two operations call by one name. */
const ofOperation: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  createSignInLink: { path: '/p/newsroom' },
  restoreWorkspace: { turn: 3 },
  createToken: { name: 'ci', project: 'newsroom' },
  uploadArtifact: { name: 'levels.csv' },
  changeBudget: { usd: 5 },
  updateProfile: { role: 'fact checker' },
  approveProject: { version: 2 },
  requestChanges: { recipient: 'editor', body: 'Name the gauge.' },
  markRead: { items: ['report:newsroom'] },
  labelProject: { set: { desk: 'river' } },
  pushShared: {
    updates: [{ ref: 'refs/heads/main', from: null, to: '8d3e5b1c02'.repeat(4) }],
    pack: '5f70c2a9e1d4b386'.repeat(4),
  },
  getSharedPack: { pack: '5f70c2a9e1d4b386'.repeat(4) },
  createProject: { start: true, message: { recipient: 'editor', body: 'Tonight’s bulletin, please.' } },
};

/** The files that operations take. */
const sent: Readonly<Record<string, string>> = { uploadArtifact: 'levels.csv', uploadSharedPack: 'new.pack' };

/** Fields that examples have although they may be left out: the body would say nothing without them. */
const worthShowing = [
  'body',
  'text',
  'tags',
  'usd',
  'reason',
  'because',
  'version',
  'set',
  'message',
  'start',
  'file',
  'path',
  'project',
  'recipient',
];

/** The body of an example of an operation; undefined where it takes no JSON, or an empty object. */
export function exampleBody(operation: DescribedOperation, description: Description): unknown {
  const schema = operation.requestBody?.content?.['application/json']?.schema;
  if (schema === undefined) return undefined;
  const { properties = {}, required = [] } = looked(schema, description);
  const own = ofOperation[operation.operationId] ?? {};
  const fields = Object.entries(properties).filter(
    ([name]) => required.includes(name) || name in own || worthShowing.includes(name),
  );
  const body = Object.fromEntries(
    fields.map(([name, field]) => [name, own[name] ?? exampleOf(name, looked(field, description))]),
  );
  return Object.keys(body).length === 0 ? undefined : body;
}

/** The path of an example, with the parameters that have to be there. */
export function examplePath(path: string, operation: DescribedOperation): string {
  const own = ofOperation[operation.operationId] ?? {};
  const valueOf = (name: string, schema: JsonSchema) => String(own[name] ?? exampleOf(name, schema));
  const filled = path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => encodeURIComponent(valueOf(name, {})));
  const query = operation.parameters
    .filter(({ in: place, required }) => place === 'query' && required)
    .map(({ name, schema }) => `${name}=${encodeURIComponent(valueOf(name, schema))}`);
  return query.length === 0 ? filled : `${filled}?${query.join('&')}`;
}

function exampleOf(name: string, schema: JsonSchema): unknown {
  if (name in usual) return usual[name];
  if (schema.default !== undefined) return schema.default;
  if (schema.enum) return schema.enum[0];
  if (schema.const !== undefined) return schema.const;
  if (schema.anyOf?.[0]) return exampleOf(name, schema.anyOf[0]);
  if (schema.type === 'integer' || schema.type === 'number') return schema.minimum ?? 1;
  if (schema.type === 'boolean') return true;
  if (schema.type === 'array') return [exampleOf('', schema.items ?? {})];
  if (schema.type === 'object') return {};
  return name;
}

/** The call as a line of a shell, with the address and the token in variables. */
export function exampleCall(
  method: string,
  path: string,
  operation: DescribedOperation,
  body: unknown,
  open: boolean,
): string {
  const parts = [
    'curl --fail-with-body',
    ...(method === 'get' ? [] : method === 'post' ? ['--request POST'] : [`--request ${method.toUpperCase()}`]),
    ...(open ? [] : ['--header "Authorization: Bearer $TOKEN"']),
    ...(operation.requestBody?.content?.['application/json'] ? [`--json ${quoted(JSON.stringify(body ?? {}))}`] : []),
    ...(operation.requestBody?.content?.['application/octet-stream']
      ? ["--header 'Content-Type: application/octet-stream'", `--data-binary @${sent[operation.operationId] ?? 'file'}`]
      : []),
    `"$SUZUMIO_URL${examplePath(path, operation)}"`,
  ];
  return parts.join(' \\\n  ');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'"'"'`)}'`;
}
