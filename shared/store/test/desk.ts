import type { MessageText } from '@suzumio/store/mail/write-message';

/** A manager, three researchers in two teams, and a writer. */
export const deskYaml = `
name: desk
task: Find it out.
channels: ["#desk", { name: "#north", members: [amy, bob] }]
backend: { runner: { mode: mock } }
agents:
  boss: { role: manager, prompt: Manage., tools: ["*"] }
  amy: { role: Researcher, prompt: Search., displayName: Amelia, team: north, tools: ["*"] }
  bob: { role: "researcher ", prompt: Search., team: north, tools: ["*"] }
  cleo: { role: researcher, prompt: Search., team: south, tools: ["*"] }
  dan: { role: writer, prompt: Write., team: south, tools: ["*"] }
`;

/** What somebody says. */
export const said = (sender: string, change: Partial<MessageText> = {}): MessageText => ({
  sender,
  priority: 'P1',
  body: `From ${sender}.`,
  actor: sender === 'user' ? 'test' : sender,
  ...change,
});
