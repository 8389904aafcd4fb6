import type { Reply } from './reply.js';

// What a scripted model says, in the Responses format: items instead of choices, and events that name what they bring.

/** A whole answer. */
export function wholeResponse(reply: Reply): object {
  return responseOf(reply, itemsOf(reply));
}

/** The same as lines of a stream, in small pieces. */
export function streamedResponse(reply: Reply): string[] {
  const items = itemsOf(reply);
  const begun = responseOf({ ...reply, usage: null }, []);
  const incomplete = reply.finish === 'length' || reply.finish === 'content_filter';
  return [
    responseEvent('response.created', { response: { ...begun, status: 'in_progress' } }),
    responseEvent('response.in_progress', { response: { ...begun, status: 'in_progress' } }),
    ...items.flatMap((item, index) => eventsOf(item, index)),
    responseEvent(incomplete ? 'response.incomplete' : 'response.completed', { response: responseOf(reply, items) }),
  ];
}

/** One event of a stream; the empty line ends it. */
export function responseEvent(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n`;
}

type Item =
  | { type: 'reasoning'; id: string; summary: [] }
  | { type: 'message'; id: string; role: string; status: string; content: { type: string; text: string }[] }
  | { type: 'function_call'; id: string; call_id: string; name: string; arguments: string; status: string };

function itemsOf({ text, calls = [] }: Reply): Item[] {
  const content = [{ type: 'output_text', text: text ?? '', annotations: [] }];
  return [
    { type: 'reasoning', id: 'rs_0', summary: [] },
    ...(text === undefined
      ? []
      : [{ type: 'message' as const, id: 'msg_0', role: 'assistant', status: 'completed', content }]),
    ...calls.map(({ id, name, arguments: given }, index) => ({
      type: 'function_call' as const,
      id: `fc_${index}`,
      call_id: id ?? `call_${index}`,
      name,
      arguments: typeof given === 'string' ? given : JSON.stringify(given),
      status: 'completed',
    })),
  ];
}

function eventsOf(item: Item, index: number): string[] {
  const at = { item_id: item.id, output_index: index };
  const pieces = (text: string, size: number) => text.match(new RegExp(`[^]{1,${size}}`, 'gu')) ?? [];
  const frame = (begun: object, inside: string[]) => [
    responseEvent('response.output_item.added', { output_index: index, item: begun }),
    ...inside,
    responseEvent('response.output_item.done', { output_index: index, item }),
  ];
  if (item.type === 'reasoning') return frame(item, []);
  if (item.type === 'function_call') {
    const deltas = pieces(item.arguments, 9).map((delta) =>
      responseEvent('response.function_call_arguments.delta', { ...at, delta }),
    );
    const done = responseEvent('response.function_call_arguments.done', { ...at, arguments: item.arguments });
    return frame({ ...item, arguments: '', status: 'in_progress' }, [...deltas, done]);
  }
  const text = item.content[0]?.text ?? '';
  return frame({ ...item, content: [], status: 'in_progress' }, [
    ...pieces(text, 7).map((delta) => responseEvent('response.output_text.delta', { ...at, content_index: 0, delta })),
    responseEvent('response.output_text.done', { ...at, content_index: 0, text }),
  ]);
}

function responseOf({ finish, usage }: Reply, output: Item[]): object {
  const reason = finish === 'length' ? 'max_output_tokens' : finish === 'content_filter' ? finish : undefined;
  const { input, output: written } = usage ?? { input: 10, output: 5 };
  return {
    id: 'resp_1',
    object: 'response',
    model: 'scripted-1',
    status: reason === undefined ? 'completed' : 'incomplete',
    error: null,
    incomplete_details: reason === undefined ? null : { reason },
    output,
    usage:
      usage === null
        ? null
        : {
            input_tokens: input,
            output_tokens: written,
            input_tokens_details: { cached_tokens: 4 },
            output_tokens_details: { reasoning_tokens: 3 },
            total_tokens: input + written,
          },
  };
}
