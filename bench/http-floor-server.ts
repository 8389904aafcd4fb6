// The process of the floor for HTTP.
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import express, { type Response } from 'express';

const directory = mkdtempSync(join(tmpdir(), 'suzumio-floor-'));
const database = new Database(join(directory, 'floor.db'));
database.pragma('journal_mode = WAL');
database.pragma('synchronous = FULL');
database.exec('CREATE TABLE messages (id INTEGER PRIMARY KEY, body TEXT NOT NULL)');
const insert = database.prepare('INSERT INTO messages (body) VALUES (?)');
const commit = database.transaction((body: string) => insert.run(body).lastInsertRowid);
const followers = new Set<Response>();

const app = express();
app.use(express.json());
app.post('/messages', (request, response) => {
  const { body } = request.body as { body: string };
  const id = commit.immediate(body);
  response.status(201).json({ id: Number(id) });
  for (const follower of followers) follower.write(`id: ${id}\nevent: message\ndata: ${JSON.stringify({ body })}\n\n`);
});
app.get('/events', (_request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.flushHeaders();
  followers.add(response);
  response.on('close', () => followers.delete(response));
});

const server = app.listen(0, '127.0.0.1', () => {
  process.send?.((server.address() as AddressInfo).port);
});
process.once('SIGTERM', () => {
  database.close();
  rmSync(directory, { recursive: true });
  process.exit(0);
});
