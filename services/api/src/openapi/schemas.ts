import * as z from 'zod';
import { auditEntry, tokenView } from '@suzumio/contract/model/access-token';
import { profileSummary, profileView, teamSummary, teamView } from '@suzumio/contract/model/profile';
import { configChange } from '@suzumio/contract/model/config-change';
import { configVersionView } from '@suzumio/contract/model/config-version';
import { eventSchemas, eventType, otherEvent, projectEvent } from '@suzumio/contract/model/event';
import { foundItem } from '@suzumio/contract/model/found';
import { decision, inboxItem } from '@suzumio/contract/model/inbox';
import { projectConfig } from '@suzumio/contract/model/project-config';
import { memoryUse, noteView } from '@suzumio/contract/model/note';
import { noReplyReason, replyAnswer } from '@suzumio/contract/model/reply';
import { budgetReached, budgetView } from '@suzumio/contract/model/budget';
import { sessionView, whoAmI } from '@suzumio/contract/model/session';
import { modelFault } from '@suzumio/contract/model/model-fault';
import { storageReached, storedView } from '@suzumio/contract/model/storage';
import { pause } from '@suzumio/contract/model/pause';
import { daySpending, usageAnswer, usageFigures, usageRow } from '@suzumio/contract/model/usage';
import * as shared from '@suzumio/contract/model/shared-repository';
import * as workspace from '@suzumio/contract/model/workspace';
import { actView } from '@suzumio/contract/model/acts';
import { nextRequest } from '@suzumio/contract/model/next-request';
import { whyAnswer, whyReason } from '@suzumio/contract/model/why';
import * as acts from '@suzumio/contract/operations/acts';
import * as agents from '@suzumio/contract/operations/agents';
import * as artifacts from '@suzumio/contract/operations/artifacts';
import * as cellEvents from '@suzumio/contract/operations/cell-events';
import * as configs from '@suzumio/contract/operations/configs';
import * as events from '@suzumio/contract/operations/events';
import * as inbox from '@suzumio/contract/operations/inbox';
import * as memory from '@suzumio/contract/operations/memory';
import * as messages from '@suzumio/contract/operations/messages';
import * as pauses from '@suzumio/contract/operations/pauses';
import * as profiles from '@suzumio/contract/operations/profiles';
import * as files from '@suzumio/contract/operations/project-files';
import * as projects from '@suzumio/contract/operations/projects';
import * as request from '@suzumio/contract/operations/request';
import * as search from '@suzumio/contract/operations/search';
import * as service from '@suzumio/contract/operations/service';
import * as sharedRepository from '@suzumio/contract/operations/shared-repository';
import * as signIn from '@suzumio/contract/operations/sign-in';
import * as tasks from '@suzumio/contract/operations/tasks';
import * as teams from '@suzumio/contract/operations/teams';
import * as tokens from '@suzumio/contract/operations/tokens';
import * as turns from '@suzumio/contract/operations/turns';
import * as usage from '@suzumio/contract/operations/usage';
import * as workspaces from '@suzumio/contract/operations/workspaces';
import { agentView } from '@suzumio/contract/model/agent';
import { artifactView } from '@suzumio/contract/model/artifact';
import { attemptView } from '@suzumio/contract/model/attempt';
import { conversationEntry } from '@suzumio/contract/model/conversation';
import { mailCount } from '@suzumio/contract/model/mail-count';
import { messageDetail, messageLine, messageReceipt, messageView } from '@suzumio/contract/model/message';
import { modelCallView } from '@suzumio/contract/model/model-call';
import { projectView } from '@suzumio/contract/model/project';
import { reportView } from '@suzumio/contract/model/report';
import { taskView } from '@suzumio/contract/model/task';
import { threadView } from '@suzumio/contract/model/thread';
import { toolCallView } from '@suzumio/contract/model/tool-call';
import { listedTurn, turnDetail } from '@suzumio/contract/model/turn';
import { summaryView } from '@suzumio/contract/model/turn-summary';
import { directoryEntry } from '@suzumio/protocol/artifacts';
import { problem } from '@suzumio/protocol/problem';

/** The names of request schemas in the description. */
export const requestSchemas: Readonly<Record<string, z.ZodType>> = {
  CreateProject: projects.createProjectRequest,
  SendMessage: messages.sendMessageRequest,
  CheckProjectFile: files.checkProjectFileRequest,
  DiffConfig: configs.diffConfigRequest,
  ApplyConfig: configs.applyConfigRequest,
  LabelProject: projects.labelRequest,
  StopProject: projects.stopRequest,
  Approve: projects.approveRequest,
  RequestChanges: projects.requestChangesRequest,
  StopAgent: agents.stopAgentRequest,
  ResetAgent: agents.resetAgentRequest,
  PushShared: sharedRepository.pushSharedRequest,
  RestoreWorkspace: workspaces.restoreWorkspaceRequest,
  MarkRead: inbox.markReadRequest,
  RedeliverMessage: messages.redeliverRequest,
  Redact: messages.redactRequest,
  Reply: messages.replyRequest,
  Broadcast: messages.broadcastRequest,
  AssignTask: tasks.assignTaskRequest,
  Pause: pauses.pauseRequest,
  ChangeBudget: usage.budgetRequest,
  CreateToken: tokens.createTokenRequest,
  CreateSignInLink: signIn.createSignInLinkRequest,
  CreateSession: signIn.createSessionRequest,
  CreateProfile: profiles.createProfileRequest,
  UpdateProfile: profiles.updateProfileRequest,
  SendToProfile: profiles.profileMessageRequest,
  AddNote: memory.addNoteRequest,
  EditNote: memory.editNoteRequest,
  CreateTeam: teams.createTeamRequest,
  UpdateTeam: teams.updateTeamRequest,
  StandUpTeam: teams.standUpRequest,
  Nothing: request.emptyRequest,
};

/** `turn.failed` is a `TurnFailedEvent`. */
function nameOfEvent(type: string): string {
  return `${type.replaceAll(/(?:^|[.-])(\w)/g, (_, letter: string) => letter.toUpperCase())}Event`;
}

/** The names of answer schemas. */
export const answerSchemas: Readonly<Record<string, z.ZodType>> = {
  Problem: problem,
  Project: projectView,
  ProjectList: projects.projectListAnswer,
  ProjectSource: projects.projectSource,
  ProjectAnswer: projects.projectAnswer,
  ProjectDetail: projects.projectDetailAnswer,
  CreatedProject: projects.createProjectAnswer,
  DeletedProject: projects.deleteProjectAnswer,
  CheckedProjectFile: files.checkProjectFileAnswer,
  ProjectFileProblem: files.fileProblem,
  FiledProject: files.filedProject,
  ExampleList: files.exampleListAnswer,
  Example: files.example,
  ResolvedConfig: projectConfig,
  ConfigChange: configChange,
  ConfigVersion: configVersionView,
  ConfigVersionList: configs.configVersionListAnswer,
  ConfigVersionDetail: configs.configVersionAnswer,
  ConfigComparison: configs.compareVersionsAnswer,
  ConfigDiff: configs.diffConfigAnswer,
  AppliedConfig: configs.applyConfigAnswer,
  Agent: agentView,
  AgentList: agents.agentListAnswer,
  Why: whyAnswer,
  WhyList: agents.whyListAnswer,
  WhyReason: whyReason,
  NextRequest: nextRequest,
  WaitAnswer: events.waitAnswer,
  RequestedChanges: projects.requestChangesAnswer,
  RetriedTurn: agents.retryAnswer,
  AgentAnswer: agents.agentAnswer,
  ResetAgentAnswer: agents.resetAgentAnswer,
  CancelledTurn: turns.cancelAnswer,
  Tick: projects.tickAnswer,
  Message: messageView,
  MessageList: messages.messageListAnswer,
  MessageDetail: messageDetail,
  Receipt: messageReceipt,
  ReplyAnswer: replyAnswer,
  NoReplyReason: noReplyReason,
  InboxItem: inboxItem,
  Inbox: inbox.inboxAnswer,
  InboxCounts: inbox.inboxCounts,
  Decision: decision,
  Decided: inbox.decidedAnswer,
  FoundItem: foundItem,
  Found: search.searchAnswer,
  MarkedRead: inbox.markReadAnswer,
  RedeliveredMessage: messages.redeliveredMessage,
  Redacted: messages.redactedAnswer,
  PostedMessage: messages.postedMessage,
  PostedReply: messages.postedReply,
  AssignedTask: tasks.assignedTask,
  Task: taskView,
  TaskList: tasks.taskListAnswer,
  Turn: listedTurn,
  Conversation: turns.conversationAnswer,
  ConversationEntry: conversationEntry,
  TurnDetail: turnDetail,
  TurnList: turns.turnListAnswer,
  Attempt: attemptView,
  ToolCall: toolCallView,
  ToolCallList: turns.toolCallListAnswer,
  Artifact: artifactView,
  WorkspaceChange: workspace.workspaceChangeView,
  WorkspaceEntry: workspace.workspaceEntryView,
  FileChange: workspace.fileChange,
  FileCounts: workspace.fileCounts,
  WorkspaceRepository: workspace.workspaceRepositoryView,
  RestoredWorkspace: workspaces.restoreWorkspaceAnswer,
  TurnChanges: workspaces.turnChangesAnswer,
  WorkspaceChangeList: workspaces.workspaceChangeListAnswer,
  WorkspaceEntryList: workspaces.workspaceEntryListAnswer,
  SharedRef: shared.sharedRefView,
  SharedRefList: sharedRepository.sharedRefListAnswer,
  SharedPush: shared.sharedPushView,
  SharedPushList: sharedRepository.sharedPushListAnswer,
  SharedPack: sharedRepository.sharedPackAnswer,
  SharedDiff: shared.sharedDiffView,
  ArtifactEntry: directoryEntry,
  ArtifactEntryList: artifacts.entryListAnswer,
  ArtifactList: artifacts.artifactListAnswer,
  Report: reportView,
  ReportList: artifacts.reportListAnswer,
  Event: projectEvent,
  ...Object.fromEntries(Object.entries(eventSchemas).map(([type, schema]) => [nameOfEvent(type), schema])),
  OtherEvent: otherEvent,
  /** Named, for clients that listen to a stream's events one type at a time. */
  EventType: eventType,
  EventList: events.eventListAnswer,
  CellEvent: cellEvents.cellEvent,
  CellEventList: cellEvents.cellEventListAnswer,
  ModelCall: modelCallView,
  Summary: summaryView,
  SummaryList: memory.summaryListAnswer,
  Note: noteView,
  NoteAnswer: memory.noteAnswer,
  NoteList: memory.noteListAnswer,
  ForgottenNote: memory.forgottenNote,
  NoteRecord: memory.noteRecordAnswer,
  MemoryUse: memoryUse,
  PauseState: pause,
  CellPause: pauses.cellPauseAnswer,
  BudgetUse: budgetView,
  BudgetReached: budgetReached,
  StorageReached: storageReached,
  ModelFault: modelFault,
  Stored: storedView,
  BudgetList: usage.budgetListAnswer,
  UsageFigures: usageFigures,
  UsageRow: usageRow,
  DaySpending: daySpending,
  Usage: usageAnswer,
  Token: tokenView,
  TokenAnswer: tokens.tokenAnswer,
  TokenList: tokens.tokenListAnswer,
  CreatedToken: tokens.createdTokenAnswer,
  Session: sessionView,
  SessionAnswer: signIn.sessionAnswer,
  SessionList: signIn.sessionListAnswer,
  SignInLink: signIn.signInLinkAnswer,
  WhoAmI: whoAmI,
  MailCount: mailCount,
  MailCounts: messages.mailCountsAnswer,
  MessageLine: messageLine,
  Thread: threadView,
  ThreadList: messages.threadListAnswer,
  AuditEntry: auditEntry,
  Audit: tokens.auditAnswer,
  Act: actView,
  ActList: acts.actListAnswer,
  Profile: profileView,
  ProfileSummary: profileSummary,
  ProfileAnswer: profiles.profileAnswer,
  ProfileList: profiles.profileListAnswer,
  SentToProfile: profiles.profileMessageAnswer,
  Team: teamView,
  TeamSummary: teamSummary,
  TeamAnswer: teams.teamAnswer,
  ShownTeam: teams.shownTeamAnswer,
  TeamList: teams.teamListAnswer,
  DeletedTeam: teams.deleteTeamAnswer,
  StandingDifferences: teams.standingDifferences,
  StoodUpTeam: teams.standUpAnswer,
  Worker: service.workerView,
  System: service.systemAnswer,
  WorkerList: service.workerListAnswer,
  Policy: service.policyAnswer,
  Health: service.healthAnswer,
};

/** The parameters of paths. */
export const pathParameters: Readonly<Record<string, { description: string; schema: z.ZodType }>> = {
  project: { description: "The project's id: its name in the project file.", schema: projectView.shape.id },
  agent: { description: "The agent's id.", schema: z.string() },
  turn: { description: "The turn's id, or `agent:number`.", schema: z.string() },
  message: { description: "The message's id, or its number.", schema: z.string() },
  thread: { description: "The thread's id, or the id or number of a message in it.", schema: z.string() },
  artifact: { description: "The artifact's id.", schema: z.string() },
  pack: { description: 'The SHA-256 of a pack, as the list of pushes has it.', schema: z.string() },
  token: { description: "The token's name.", schema: z.string() },
  session: { description: "The session's id.", schema: z.string() },
  profile: { description: "The profile's nickname or id.", schema: z.string() },
  note: { description: "The note's id.", schema: z.string() },
  team: { description: "The team's name.", schema: z.string() },
  version: { description: "The version's number.", schema: z.string() },
};
