export { allItems, createClient, followCell, followEvents, followTurn, untilReply, untilStatus } from './client.js';
export type { ApiAddress, AskOptions, Client } from './api.js';
export { RetryLater, SuzumioError } from './errors.js';
export { type HandlerLogger, type RunningHandler, TeamHandler, type TeamHandlerOptions } from './team-handler.js';
export type { HandleTurn } from './handle-turn.js';
export type { Agent, Attachment, Mail, Priority, TaskState, Turn } from './turn.js';
export type {
  Assigned,
  Assignment,
  Broadcast,
  CallOptions,
  Message,
  NewArtifact,
  Published,
  Reply,
  Replied,
  Sent,
  ToolAnswer,
  TurnContext,
  WantedFile,
} from './turn-context.js';
export type { ShownImage } from './wire.js';
