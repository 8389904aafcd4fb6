import { z } from 'zod';
import { auditEntry, tokenView } from '@suzumio/contract/model/access-token';
import * as api from '@suzumio/contract/model/http-api';
import * as mail from '@suzumio/contract/model/mail-api';
import { profileSummary, profileView, teamSummary, teamView } from '@suzumio/contract/model/profile';
import * as profileApi from '@suzumio/contract/model/profile-api';
import { eventType, projectEvent } from '@suzumio/contract/model/event';
import { projectConfig } from '@suzumio/contract/model/project-config';
import { budgetReached, budgetView } from '@suzumio/contract/model/budget';
import { storageReached, storedView } from '@suzumio/contract/model/storage';
import { pause } from '@suzumio/contract/model/pause';
import { daySpending, usageAnswer, usageFigures, usageRow } from '@suzumio/contract/model/usage';
import { whyAnswer, whyReason } from '@suzumio/contract/model/why';
import { workerListAnswer, workerView } from '@suzumio/contract/model/workers';
import * as views from '@suzumio/contract/model/views';
import { directoryEntry } from '@suzumio/protocol/artifacts';
import { problem } from '@suzumio/protocol/problem';

/** What the description calls the schemas of requests. */
export const requestSchemas: Readonly<Record<string, z.ZodType>> = {
  CreateProject: api.createProjectRequest,
  SendMessage: api.sendMessageRequest,
  StopProject: api.stopRequest,
  RequestChanges: api.requestChangesRequest,
  StopAgent: api.stopAgentRequest,
  ResetAgent: api.resetAgentRequest,
  RedeliverMessage: mail.redeliverRequest,
  Reply: mail.replyRequest,
  Broadcast: mail.broadcastRequest,
  AssignTask: mail.assignTaskRequest,
  Pause: api.pauseRequest,
  ChangeBudget: api.budgetRequest,
  CreateToken: api.createTokenRequest,
  CreateProfile: profileApi.createProfileRequest,
  UpdateProfile: profileApi.updateProfileRequest,
  SendToProfile: profileApi.profileMessageRequest,
  CreateTeam: profileApi.createTeamRequest,
  UpdateTeam: profileApi.updateTeamRequest,
  StandUpTeam: profileApi.standUpRequest,
  Nothing: api.emptyRequest,
};

/** What it calls those of answers. */
export const answerSchemas: Readonly<Record<string, z.ZodType>> = {
  Problem: problem,
  Project: views.projectView,
  ProjectList: api.projectListAnswer,
  ProjectAnswer: api.projectAnswer,
  ProjectDetail: api.projectDetailAnswer,
  CreatedProject: api.createProjectAnswer,
  DeletedProject: api.deleteProjectAnswer,
  ResolvedConfig: projectConfig,
  Agent: views.agentView,
  AgentList: api.agentListAnswer,
  Why: whyAnswer,
  WhyReason: whyReason,
  WaitAnswer: api.waitAnswer,
  RequestedChanges: api.requestChangesAnswer,
  RetriedTurn: api.retryAnswer,
  AgentAnswer: api.agentAnswer,
  ResetAgentAnswer: api.resetAgentAnswer,
  CancelledTurn: api.cancelAnswer,
  Tick: api.tickAnswer,
  Message: views.messageView,
  MessageList: api.messageListAnswer,
  MessageDetail: views.messageDetail,
  Receipt: views.messageReceipt,
  RedeliveredMessage: mail.redeliveredMessage,
  PostedMessage: api.postedMessage,
  PostedReply: mail.postedReply,
  AssignedTask: mail.assignedTask,
  Task: views.taskView,
  TaskList: mail.taskListAnswer,
  Turn: views.turnView,
  TurnDetail: views.turnDetail,
  TurnList: api.turnListAnswer,
  Attempt: views.attemptView,
  ToolCall: views.toolCallView,
  ToolCallList: api.toolCallListAnswer,
  Artifact: views.artifactView,
  ArtifactEntry: directoryEntry,
  ArtifactEntryList: api.entryListAnswer,
  ArtifactList: api.artifactListAnswer,
  Event: projectEvent,
  /** By its name, for clients that listen to a stream's events one type at a time. */
  EventType: eventType,
  EventList: api.eventListAnswer,
  ModelCall: views.modelCallView,
  Summary: views.summaryView,
  SummaryList: api.summaryListAnswer,
  PauseState: pause,
  CellPause: api.cellPauseAnswer,
  BudgetUse: budgetView,
  BudgetReached: budgetReached,
  StorageReached: storageReached,
  Stored: storedView,
  BudgetList: api.budgetListAnswer,
  UsageFigures: usageFigures,
  UsageRow: usageRow,
  DaySpending: daySpending,
  Usage: usageAnswer,
  Token: tokenView,
  TokenAnswer: api.tokenAnswer,
  TokenList: api.tokenListAnswer,
  CreatedToken: api.createdTokenAnswer,
  AuditEntry: auditEntry,
  Audit: api.auditAnswer,
  Profile: profileView,
  ProfileSummary: profileSummary,
  ProfileAnswer: profileApi.profileAnswer,
  ProfileList: profileApi.profileListAnswer,
  SentToProfile: profileApi.profileMessageAnswer,
  Team: teamView,
  TeamSummary: teamSummary,
  TeamAnswer: profileApi.teamAnswer,
  TeamList: profileApi.teamListAnswer,
  DeletedTeam: profileApi.deleteTeamAnswer,
  StandingDifferences: profileApi.standingDifferences,
  StoodUpTeam: profileApi.standUpAnswer,
  Worker: workerView,
  WorkerList: workerListAnswer,
  Health: api.healthAnswer,
};

/** The parts of paths, with what may stand there. */
export const pathParameters: Readonly<Record<string, { description: string; schema: z.ZodType }>> = {
  project: { description: "The project's id: its name in the project file.", schema: views.projectView.shape.id },
  agent: { description: "The agent's id.", schema: z.string() },
  turn: { description: "The turn's id, or `agent:number`.", schema: z.string() },
  message: { description: "The message's id, or its number.", schema: z.string() },
  thread: { description: "The thread's id, or the id or number of a message in it.", schema: z.string() },
  artifact: { description: "The artifact's id.", schema: z.string() },
  token: { description: "The token's name.", schema: z.string() },
  profile: { description: "The profile's nickname or id.", schema: z.string() },
  team: { description: "The team's name.", schema: z.string() },
};
