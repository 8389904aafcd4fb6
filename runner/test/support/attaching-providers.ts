import type { Behaviour, ModelRequest } from '../../../test/support/model-server.js';
import { event } from '../../../test/support/model-server.js';
import { responseEvent } from '../../../test/support/responses-wire.js';

// Providers that attach something to their answers and refuse a conversation in which it does not come back as it came.

type Fields = Record<string, unknown>;
type Call = Fields & { id?: string; function: { name: string; arguments: string } };
type Message = Fields & { role: string; content?: string | null; tool_calls?: Call[]; tool_call_id?: string };

/** How one provider answers, and what it has against a question. */
export interface Attaching {
  api?: 'responses';
  /** An answer with calls, whole and as the deltas of a stream. */
  calls(name: string, inputs: readonly object[], turn: number): { whole: Message; deltas: Fields[] };
  /** An answer that ends a turn. */
  text(text: string, turn: number): { whole: Message; deltas: Fields[] };
  /** What it refuses besides what it misses. */
  refuses?(messages: Message[]): string | undefined;
  /** What it has against anything else in a question. */
  faultIn?(body: ModelRequest['body']): string | undefined;
  /** The body of such a refusal; that of OpenAI's by default. */
  refusedAs?(message: string): object;
  /** What it refuses until it is sent otherwise: the body of the refusal, and its status where that is not 400. */
  teaches?(body: ModelRequest['body']): (object & { status?: number }) | undefined;
  /** What is recorded of that, where it is the same each time. */
  learnt?: readonly string[];
  /** The settings of a preset for it. */
  preset?: string;
  /** What its counts have besides the usual two; of ten tokens of a question four are cached where it counts them. */
  usage?: Fields;
  /** What a stream begins with. */
  before?: readonly string[];
  /** The finish reason of an answer with calls, where it is its own. */
  finish?: string;
  /** How a text of its answers comes back, where that differs. */
  comesBackAs?: (text: string) => string;
}

const args = (input: object) => JSON.stringify(input);
const apart = (text: string) => text.match(/[^]{1,5}/gu) ?? [];

const thought = 'The user “asks”:\n\\ 思考 \u2028 🧠.';

/** Signatures at calls; of parallel ones the first alone has one. */
const gemini: Attaching = {
  calls(name, inputs, turn) {
    const calls = inputs.map((input, at) => ({
      id: `function-call-${turn}-${at}`,
      type: 'function',
      function: { name, arguments: args(input) },
      ...(at === 0 ? { extra_content: { google: { thought_signature: `sig/${turn}+=` } } } : {}),
    }));
    return {
      whole: { role: 'assistant', tool_calls: calls },
      deltas: calls.map((call, index) => ({ role: 'assistant', tool_calls: [{ index, ...call }] })),
    };
  },
  text(text, turn) {
    const extra_content = { google: { thought_signature: `end/${turn}` } };
    return {
      whole: { role: 'assistant', content: text, extra_content },
      deltas: [{ content: text }, { content: '', extra_content }],
    };
  },
};

/** The same by a proxy: the signature is in the function, in a chunk after it. */
const signed: Attaching = {
  ...gemini,
  calls(name, inputs, turn) {
    const within = { name, arguments: args(inputs[0] ?? {}), thought_signature: `s${turn}` };
    const specific = { thought_signature: `p${turn}` };
    return {
      whole: {
        role: 'assistant',
        tool_calls: [{ id: `c${turn}`, function: within, provider_specific_fields: specific }],
      },
      deltas: [
        { tool_calls: [{ index: 0, id: `c${turn}`, function: { name, arguments: '' } }] },
        { tool_calls: [{ index: 0, function: { arguments: within.arguments } }] },
        {
          tool_calls: [{ index: 0, function: { thought_signature: `s${turn}` }, provider_specific_fields: specific }],
        },
      ],
    };
  },
};

/** Thoughts as a text, in whatever field, which each answer must have and none may have empty. */
const thinkingIn = (field: string): Attaching => ({
  calls(name, inputs, turn) {
    const calls = inputs.map((input, at) => ({ id: `call_${turn}_${at}`, function: { name, arguments: args(input) } }));
    const text = `${thought} ${turn}`;
    return {
      whole: { role: 'assistant', content: '', [field]: text, tool_calls: calls },
      deltas: [
        { role: 'assistant', content: null, [field]: '' },
        ...apart(text).map((piece) => ({ [field]: piece })),
        ...calls.map((call, index) => ({ tool_calls: [{ index, ...call }] })),
      ],
    };
  },
  text(text, turn) {
    const said = `${thought} at last ${turn}`;
    return {
      whole: { role: 'assistant', content: text, [field]: said },
      deltas: [...apart(said).map((piece) => ({ [field]: piece, content: null })), { content: text }],
    };
  },
  refuses: (messages) => (messages.some((message) => message[field] === '') ? `${field} is empty` : undefined),
});

/** Thoughts as a list: texts in pieces, with a signature at their end, and what is encrypted as a whole. */
const openRouter: Attaching = {
  calls(name, inputs, turn) {
    const calls = inputs.map((input, at) => ({
      id: `toolu_${turn}_${at}`,
      function: { name, arguments: args(input) },
    }));
    const text = {
      type: 'reasoning.text',
      text: thought,
      format: 'anthropic-claude-v1',
      index: 0,
      signature: `S${turn}==`,
    };
    const sealed = {
      type: 'reasoning.encrypted',
      data: 'gAAAAA==',
      id: `rs_${turn}`,
      format: 'openai-responses-v1',
      index: 0,
    };
    const open = { ...text, signature: undefined };
    return {
      whole: {
        role: 'assistant',
        content: null,
        reasoning: thought,
        reasoning_details: [text, sealed],
        tool_calls: calls,
      },
      deltas: [
        ...apart(thought).map((piece) => ({ reasoning: piece, reasoning_details: [{ ...open, text: piece }] })),
        { reasoning_details: [{ type: text.type, signature: text.signature, format: text.format, index: 0 }] },
        { reasoning_details: [sealed] },
        ...calls.map((call, index) => ({ tool_calls: [{ index, ...call }] })),
      ],
    };
  },
  text: (text, turn) => ({
    whole: {
      role: 'assistant',
      content: text,
      reasoning_details: [{ type: 'reasoning.summary', summary: `So ${turn}`, id: null, index: 0 }],
    },
    deltas: [
      { reasoning_details: [{ type: 'reasoning.summary', summary: 'So', id: null, index: 0 }] },
      { reasoning_details: [{ type: 'reasoning.summary', summary: ` ${turn}`, id: null, index: 0 }] },
      { content: text },
    ],
  }),
};

/** Attaches nothing. */
const plain: Attaching = {
  calls(name, inputs, turn) {
    const calls = inputs.map((input, at) => ({
      id: `call_${turn}_${at}`,
      type: 'function',
      function: { name, arguments: args(input) },
    }));
    return {
      whole: { role: 'assistant', content: null, tool_calls: calls },
      deltas: calls.map((call, index) => ({ tool_calls: [{ index, ...call }] })),
    };
  },
  text: (text) => ({ whole: { role: 'assistant', content: text }, deltas: [{ content: text }] }),
};

/** Gives no ids, and takes none but its own form of them. */
const mistral: Attaching = {
  ...plain,
  calls(name, inputs) {
    const calls = inputs.map((input) => ({ function: { name, arguments: args(input) } }));
    return { whole: { role: 'assistant', tool_calls: calls }, deltas: [{ tool_calls: calls }] };
  },
  refuses(messages) {
    const ids = messages.flatMap(({ tool_calls: calls = [], tool_call_id: id }) => [
      ...calls.map((call) => call.id ?? ''),
      ...(id === undefined ? [] : [id]),
    ]);
    return ids.every((id) => /^[a-zA-Z0-9]{9}$/.test(id))
      ? undefined
      : 'Tool call id has to be nine letters and digits';
  },
};

/** Items with encrypted thoughts, each before what it led to. */
const responses: Attaching = {
  api: 'responses',
  calls(name, inputs, turn) {
    const output = inputs.flatMap((input, at) => [
      { type: 'reasoning', id: `rs_${turn}_${at}`, summary: [], encrypted_content: `gAAA${turn}${at}` },
      { type: 'function_call', id: `fc_${turn}_${at}`, call_id: `call_${turn}_${at}`, name, arguments: args(input) },
    ]);
    return { whole: { role: 'assistant', output }, deltas: output };
  },
  text(text, turn) {
    const content = [{ type: 'output_text', text, annotations: [] }];
    const output = [
      {
        type: 'reasoning',
        id: `rs_${turn}_e`,
        summary: [{ type: 'summary_text', text: 'Done.' }],
        encrypted_content: `gBBB${turn}`,
      },
      { type: 'message', id: `msg_${turn}`, role: 'assistant', status: 'completed', phase: 'final_answer', content },
    ];
    return { whole: { role: 'assistant', output }, deltas: output };
  },
};

export const attaching = {
  gemini,
  signed,
  deepseek: thinkingIn('reasoning_content'),
  reasoning: thinkingIn('reasoning'),
  openRouter,
  mistral,
  responses,
  plain,
} as const;

/** A provider that plays one of them, and remembers what it said. */
export class AttachingProvider {
  readonly refused: string[] = [];
  /** How many of its refusals taught what it takes. */
  taught = 0;
  readonly #said: Message[] = [];

  constructor(
    private readonly kind: Attaching,
    private readonly isStreamed: boolean,
  ) {}

  calls(name: string, inputs: readonly object[], turn: number): Behaviour {
    return this.#answer(this.kind.calls(name, inputs, turn), this.kind.finish ?? 'tool_calls');
  }

  text(text: string, turn: number): Behaviour {
    return this.#answer(this.kind.text(text, turn), 'stop');
  }

  /** The refusal of a question in which something that this provider attached is missing. */
  refusal({ body }: Pick<ModelRequest, 'body'>): Behaviour | undefined {
    const lesson = this.kind.teaches?.(body);
    if (lesson) {
      this.taught += 1;
      return { status: lesson.status ?? 400, body: lesson };
    }
    const fault =
      this.kind.faultIn?.(body) ??
      (this.kind.api === 'responses' ? this.#faultInItems(body) : this.#fault(body.messages as Message[]));
    if (fault === undefined) return undefined;
    this.refused.push(fault);
    return { status: 400, body: this.kind.refusedAs?.(fault) ?? { error: { message: fault } } };
  }

  #answer({ whole, deltas }: { whole: Message; deltas: Fields[] }, finish: string): Behaviour {
    const { comesBackAs, usage: counts = {}, before = [] } = this.kind;
    const { content } = whole;
    this.#said.push(comesBackAs && typeof content === 'string' ? { ...whole, content: comesBackAs(content) } : whole);
    const usage = { prompt_tokens: 10, completion_tokens: 5, ...counts };
    if (this.kind.api === 'responses') return this.#response(deltas);
    if (!this.isStreamed) {
      const body = { choices: [{ index: 0, message: whole, finish_reason: finish }], usage };
      return { status: 200, headers: { 'content-type': 'application/json' }, body };
    }
    const chunks = deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] }));
    const end = { choices: [{ index: 0, delta: {}, finish_reason: finish }], usage };
    return { lines: [...before, ...[...chunks, end].map(event), 'data: [DONE]\n'] };
  }

  #response(output: Fields[]): Behaviour {
    const response = { status: 'completed', output, usage: { input_tokens: 10, output_tokens: 5 } };
    if (!this.isStreamed) return { status: 200, headers: { 'content-type': 'application/json' }, body: response };
    const lines = output.flatMap((item, index) => {
      const begun = item['type'] === 'reasoning' ? { ...item, encrypted_content: 'not yet' } : item;
      return [
        responseEvent('response.output_item.added', { output_index: index, item: begun }),
        responseEvent('response.output_item.done', { output_index: index, item }),
      ];
    });
    return { lines: [...lines, responseEvent('response.completed', { response })] };
  }

  /** Its own answers come back in their order, each as it was; among them may be texts of others. */
  #fault(messages: Message[]): string | undefined {
    const answers = messages.filter(({ role }) => role === 'assistant');
    for (const [at, said] of this.#said.entries()) {
      if (answers.length === 0) return `answer ${at} is missing`;
      const faults: string[] = [];
      for (let back = answers.shift(); back; back = answers.shift()) {
        const fault = missing(said, back);
        if (fault === undefined) break;
        faults.push(fault);
        if (answers.length === 0) return `answer ${at}: ${faults.join(', ')}`;
      }
    }
    return JSON.stringify(messages).includes('suzumio"') ? 'a reference' : this.kind.refuses?.(messages);
  }

  #faultInItems(body: Fields): string | undefined {
    if (JSON.stringify(body['include']) !== '["reasoning.encrypted_content"]') return 'nothing is included';
    const items = (body['input'] as Fields[]).filter(
      (item) => item['role'] !== 'user' && item['type'] !== 'function_call_output',
    );
    const said = this.#said.flatMap(({ output }) => output as Fields[]);
    const at = said.findIndex((item, index) => differsInNames(item, items[index] ?? {}));
    return at < 0 ? undefined : `item ${at}: ${JSON.stringify(items[at])}`;
  }
}

function missing(said: Message, back: Message): string | undefined {
  for (const name of Object.keys({ ...said, ...back })) {
    if (['role', 'content', 'tool_calls'].includes(name)) continue;
    if (JSON.stringify(said[name]) !== JSON.stringify(back[name])) return name;
  }
  if (typeof said.content === 'string' && said.content !== '' && said.content !== back.content) return 'content';
  for (const [index, call] of (said.tool_calls ?? []).entries()) {
    const made = back.tool_calls?.[index];
    const fault = made ? differs(call, made) : `call ${index}`;
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function differs(said: Call, back: Call): string | undefined {
  for (const name of Object.keys({ ...said, ...back })) {
    if (['id', 'type', 'function'].includes(name)) continue;
    if (JSON.stringify(said[name]) !== JSON.stringify(back[name])) return `${name} of call ${back.id}`;
  }
  if (said.id !== undefined && said.id !== back.id) return `the id ${said.id}`;
  const within = said.function as Fields;
  const name = Object.keys(within).find((field) => (back.function as Fields)[field] !== within[field]);
  return name === undefined ? undefined : `function.${name}`;
}

function differsInNames(said: Fields, back: Fields): boolean {
  return Object.keys(said).some((name) => JSON.stringify(said[name]) !== JSON.stringify(back[name]));
}
