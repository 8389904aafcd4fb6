import type { MailLimit } from '../mail/communication.js';
import type { SelectedMail } from './select-mail.js';
import type { Skill } from '@suzumio/contract/model/skill';
import { type ArtifactsTold, renderArtifacts } from './artifacts.js';
import { renderAttachments } from './attachments.js';
import { oneLine, renderBody, token, visibleLines } from './body.js';
import { renderDirectories, type PromptMount } from './directories.js';
import { type PromptNotes, renderNotesLine } from './notes.js';
import { renderSkills } from './skills.js';
import {
  type LastFailure,
  type LastFiles,
  renderLastFailure,
  renderLastFiles,
  renderWorkspace,
  type WorkspaceTop,
} from './workspace.js';

/** A member of the team, as the others see it. */
export interface TeamMember {
  readonly id: string;
  readonly role: string;
  readonly displayName?: string;
  /** Its team. */
  readonly team?: string;
}

/** The input of a turn's prompt. */
export interface PromptInput {
  readonly project: { readonly name: string; readonly task: string };
  /** The agent of the turn. */
  readonly agent: TeamMember & { readonly prompt: string };
  /** The agent's skills. */
  readonly skills: readonly Skill[];
  /** All agents of the project in order, `agent` among them; the person, `user`, is added. */
  readonly team: readonly TeamMember[];
  /** What its mail is held to. */
  readonly mailLimit?: MailLimit | undefined;
  /** The channels that the agent may post to. */
  readonly channels: readonly string[];
  /** The agent's tools, by the names that it calls them by. */
  readonly tools: readonly string[];
  /** What it reads a whole message with, by such a name. @default messages.read */
  readonly readsMessages?: string;
  /** What the agent finds in its workspace, if it has tools to use it. */
  readonly workspace?: WorkspaceTop | undefined;
  /** What it finds in its directory of artifacts, if it has such tools. */
  readonly artifacts?: ArtifactsTold | undefined;
  /** How its last turn failed, if it did and the agent has such tools. */
  readonly lastFailure?: LastFailure | undefined;
  /** What became of the files of its last turn. */
  readonly lastFiles?: LastFiles | undefined;
  /** Directories beside the workspace. */
  readonly mounts: readonly PromptMount[];
  /** What it keeps in mind, if it has tools to look there. */
  readonly notes?: PromptNotes | undefined;
  readonly mail: readonly SelectedMail[];
  /** Messages that stay unread after this turn's. */
  readonly unreadLeft: number;
}

/**
 * Renders a turn's prompt. A mail body cannot leave its frame: each of its lines is prefixed, frames are not, and a
 * frame ends with its message's id.
 */
export function renderPrompt(input: PromptInput): string {
  const { project, agent } = input;
  return [
    `# Project ${oneLine(project.name)}`,
    'Task:',
    ...freeText(project.task).map((line) => `  ${line}`),
    '',
    `# You are ${named(agent)}, ${oneLine(agent.role)}`,
    ...freeText(agent.prompt),
    '',
    ...renderSkills(input.skills),
    '# Team',
    [...input.team.map((member) => teamEntry(member, agent.id)), 'user'].join(' | '),
    ...limitNote(input.mailLimit),
    `Channels: ${list(input.channels)}        Tools: ${list(input.tools)}`,
    '',
    ...renderWorkspace(input.workspace),
    ...renderArtifacts(input.artifacts, agent.id),
    ...renderDirectories(input.mounts),
    ...renderLastFailure(input.lastFailure),
    ...renderLastFiles(input.lastFiles, agent.id),
    ...renderNotesLine(input.notes),
    `# Unread mail: ${String(input.mail.length)}${leftNote(input.unreadLeft)}`,
    ...input.mail.flatMap((mail) => frame(mail, input.readsMessages ?? 'messages.read')),
    '',
  ].join('\n');
}

function frame(mail: SelectedMail, readsMessages: string): string[] {
  const id = token(mail.id);
  const to = token(mail.channel ?? mail.recipient ?? '');
  const at = new Date(mail.createdAtMs).toISOString().replace(/\.\d+Z$/, 'Z');
  return [
    `[${id} from ${token(mail.sender)} to ${to}, ${mail.priority}${kindNote(mail)}, thread ${token(mail.threadId)}, ${at}]`,
    renderBody(mail.body),
    ...(mail.cut ? [`[cut ${id}: ${String(mail.leftOutBytes)} bytes left out, ${readsMessages} has the whole]`] : []),
    ...renderAttachments(mail.attachments),
    `[end ${id}]`,
  ];
}

/** The kind of a message, unless it is plain mail to an agent or a channel. */
function kindNote({ kind, replyTo }: SelectedMail): string {
  if (kind === 'direct' || kind === 'channel') return '';
  return kind === 'reply' ? `, in reply to ${token(replyTo ?? '')}` : `, ${kind}`;
}

function leftNote(unreadLeft: number): string {
  return unreadLeft > 0 ? `, ${String(unreadLeft)} more for your next turn` : '';
}

function teamEntry(member: TeamMember, self: string): string {
  const who = member.id === self ? `${oneLine(member.id)}, you` : `${named(member)}, ${oneLine(member.role)}`;
  return member.team === undefined ? who : `${who}, team ${oneLine(member.team)}`;
}

function limitNote(limit: MailLimit | undefined): string[] {
  return limit === undefined
    ? []
    : [`You write to ${oneLine(limit.coordinator)} alone, at most with priority ${limit.priority}.`];
}

function named({ id, displayName }: TeamMember): string {
  return displayName === undefined ? oneLine(id) : `${oneLine(id)} (${oneLine(displayName)})`;
}

function list(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.map(oneLine).join(', ');
}

/** Lines of a text from the project file, without the empty ones that YAML blocks end with. */
function freeText(text: string): string[] {
  return visibleLines(text.trimEnd());
}
