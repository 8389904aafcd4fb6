// The runner of a turn: uses the door in one of a few ways, some of them hostile, until its time is over.
import { createHash } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const directory = process.env.SUZUMIO_TURN_DIR ?? '/turn';
const { project, agent, turn, controllerUrl, token } = JSON.parse(readFileSync(`${directory}/input.json`, 'utf8'));
// "21.5 questions"
const [seconds, ...words] = agent.prompt.split(' ');
const way = words.join(' ');
const untilMs = Date.now() + Number(seconds) * 1000;
const megabyte = 1024 * 1024;
const answers = {};

const socketPath = controllerUrl.replace(/^unix:/, '');
const agentOfHttp = new Agent({ keepAlive: true });

async function send(method, path, body, more = {}) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...more };
  headers['content-length'] = Buffer.byteLength(body);
  const answer = await new Promise((resolve) => {
    const sent = request({ socketPath, path, method, headers, agent: agentOfHttp }, (response) => {
      response
        .resume()
        .on('end', () => resolve(String(response.statusCode)))
        .on('error', () => resolve('cut'));
    });
    sent.on('error', (error) => resolve(error.code ?? 'cut')).end(body);
  });
  answers[answer] = (answers[answer] ?? 0) + 1;
  // Whoever is refused at once costs this container's processor; a pause keeps that out of what is measured.
  if (answer !== '200' && answer !== '204') await sleep(5);
}

const call = (tool, input) =>
  send('POST', '/tool', JSON.stringify({ project, agent: agent.id, turn: turn.id, tool, input }));
const question = (parts) => JSON.stringify({ model: 'main', messages: [{ role: 'user', content: parts }] });
const ask = (step, body) => send('POST', '/v1/chat/completions', body, { 'x-suzumio-step': String(step) });

/** As few bytes a part as there can be: what costs most to parse. */
const crumbs = (bytes) =>
  question(Array.from({ length: 900 }, () => ({ type: 'text', text: 'x'.repeat(bytes / 900) })));
const oneText = (bytes) => question([{ type: 'text', text: 'x'.repeat(bytes) }]);
const tiny = (bytes) =>
  JSON.stringify({
    model: 'main',
    messages: Array.from({ length: Math.floor(bytes / 32) }, () => ({ role: 'user', content: 'x' })),
  });

async function publish(bytes, count) {
  const content = Buffer.alloc(bytes, `${agent.id} ${turn.id} ${count} `);
  const sha256 = createHash('sha256').update(content).digest('hex');
  await send('PUT', `/content/${sha256}`, content, { 'content-type': 'application/octet-stream' });
  await call('artifacts.publish', { path: 'work.txt', name: 'work.txt', sha256, sizeBytes: bytes });
}

/** What one lane of a way does, again and again, and how many lanes it has. */
const ways = {
  // A conversation that grows, a question at a time.
  questions: { lanes: 1, turn: (_lane, count) => ask(count, oneText(8 * megabyte + count)) },
  // The place of a question that has been answered, with bodies that are dear to read.
  'wrong questions': { lanes: 16, body: () => tiny(15 * megabyte), turn: (_lane, _count, body) => ask(0, body) },
  'many parts': { lanes: 16, body: () => crumbs(15 * megabyte), turn: (_lane, _count, body) => ask(0, body) },
  publishing: { lanes: 1, turn: (_lane, count) => publish(2 * megabyte, count) },
  // Neither tool is on the list of who calls it.
  reports: { lanes: 8, turn: () => call('completion.submit', { report: 'x'.repeat(megabyte) }) },
  refusals: { lanes: 8, turn: () => call('messages.send', { recipient: 'user', body: 'x'.repeat(1.9 * megabyte) }) },
};

const { lanes, turn: once, body = () => '' } = ways[way];
// Made once: it is not to be this container's processor that bounds an attack.
const sent = body();
if (way === 'wrong questions' || way === 'many parts') await ask(0, oneText(10));
const work = Array.from({ length: lanes }, async (_, lane) => {
  for (let count = 0; Date.now() < untilMs; count += 1) await once(lane, count, sent);
});
// What is not answered by then is not waited for.
await Promise.race([Promise.all(work), sleep(untilMs + 1_000 - Date.now())]);
const output = `${directory}/output.json`;
writeFileSync(`${output}.tmp`, JSON.stringify({ text: JSON.stringify(answers) }));
renameSync(`${output}.tmp`, output);
process.exit(0);
