import type { Skill } from '@suzumio/contract/model/skill';
import { visibleLines } from './body.js';

/**
 * An agent's skills, each in a frame of its own: its lines begin with `>`, those of mail with `|`, so that no skill can
 * close its frame, open another, or pass for mail.
 */
export function renderSkills(skills: readonly Skill[]): string[] {
  if (skills.length === 0) return [];
  return [`# Skills: ${String(skills.length)}`, ...skills.flatMap(frame), ''];
}

function frame({ name, text }: Skill): string[] {
  const lines = visibleLines(text.trimEnd()).map((line) => `> ${line}`);
  return [`[skill ${name}]`, ...lines, `[end of skill ${name}]`];
}
