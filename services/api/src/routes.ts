import type { Express } from 'express';
import { isOpen, type JsonOf, type Operation, type OperationShape } from '@suzumio/contract/operations/operation';
import { identityOf, requireWholeCell } from './auth.js';
import { readJson } from './body.js';
import { Call } from './call.js';
import type { ApiContext } from './context.js';
import { refuseForgedMail } from './operations/mail.js';

/** Implements an operation: returns its JSON, or sends another response itself. */
export type Run<Shape extends OperationShape> = (call: Call<Shape>) => Answer<Shape> | Promise<Answer<Shape>>;

type Answer<Shape extends OperationShape> = [JsonOf<Shape>] extends [never] ? undefined : JsonOf<Shape>;

/** The implementations of a resource's operations. */
export type Runs<Shapes extends Readonly<Record<string, OperationShape>>> = {
  readonly [Id in keyof Shapes]: Run<Shapes[Id]>;
};

/** The implementation of any operation. */
export type AnyRun = (call: Call<Operation>) => unknown;

/** Adds the route of an operation. */
export function addRoute(app: Express, context: ApiContext, operation: Operation, run: AnyRun): void {
  const usual = Math.min(...Object.keys(operation.answers).map(Number));
  // Those that need no token come before what reads the bodies of all others.
  const before = isOpen(operation) && operation.body !== undefined ? readJson : [];
  app[operation.method](operation.path, ...before, async (request, response) => {
    if (operation.wholeCell) requireWholeCell(identityOf(response));
    refuseForgedMail(operation, request.body);
    const answer = await run(new Call(operation, context, request, response));
    if (answer === undefined || response.closed) return;
    if (response.statusCode === 200) response.status(usual);
    response.json(answer);
  });
}
