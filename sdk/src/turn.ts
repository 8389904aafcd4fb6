/** `P0` is the most urgent. */
export type Priority = 'P0' | 'P1' | 'P2' | 'P3';

/** The state of an assigned task. */
export type TaskState = 'open' | 'accepted' | 'done' | 'declined';

/** An attached artifact; `ctx.read(attachment)` reads a file. */
export interface Attachment {
  readonly id: string;
  readonly name: string;
  readonly kind: 'file' | 'directory';
  readonly files: number;
  readonly sizeBytes: number;
}

/** A complete message. */
export interface Mail {
  readonly id: string;
  /** `direct`, `channel`, `task`, `reply`, `broadcast` or `event`. */
  readonly kind: string;
  /** An agent's id, `user` for the person, or `system`. */
  readonly sender: string;
  readonly recipient: string | null;
  readonly channel: string | null;
  readonly threadId: string;
  /** The message that it answers. */
  readonly replyTo: string | null;
  readonly priority: Priority;
  readonly body: string;
  readonly attachments: readonly Attachment[];
  /** ISO 8601. */
  readonly createdAt: string;
}

/** The agent of the turn, as in the project file. */
export interface Agent {
  readonly id: string;
  readonly role: string;
  readonly prompt: string;
  readonly displayName: string | null;
  readonly model: string | null;
}

/** A turn: the mail that an agent has to act on. */
export interface Turn {
  readonly project: string;
  readonly agent: Agent;
  readonly id: string;
  /** The turn's number at its agent. */
  readonly number: number;
  /** 1, and one more for each retry of the turn. */
  readonly attempt: number;
  /** The prompt, as a model would get it: the project's task, its team, its mail. */
  readonly prompt: string;
  /** The most urgent first. */
  readonly mail: readonly Mail[];
  /** The tools that the agent may use. */
  readonly tools: readonly string[];
  /** How long the turn may take. */
  readonly timeoutMs: number;
}
