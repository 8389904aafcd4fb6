/**
 * The types of the client. The package has others in this place, which are made of the API's description: they need
 * neither the contract nor zod, and carry its words (`scripts/bundle-sdk.mjs`).
 */
export type { Client } from '@suzumio/contract/client/client';
export type { ApiAddress, AskOptions } from '@suzumio/contract/client/make-client';
export type { Follow } from '@suzumio/contract/client/follow-events';
export type { FollowCell } from '@suzumio/contract/client/follow-cell';
export type { FollowTurn, LiveEnd, LiveFrame } from '@suzumio/contract/client/follow-turn';
export type { UntilReply } from '@suzumio/contract/client/until-reply';
export type { UntilStatus } from '@suzumio/contract/client/until-status';
export type { ProjectEvent as Event } from '@suzumio/contract/model/event';
export type { CellEvent } from '@suzumio/contract/operations/cell-events';
export type { ReplyAnswer } from '@suzumio/contract/model/reply';
export type { WaitAnswer } from '@suzumio/contract/operations/events';
