/** What a preset says of its model. */
export interface Named {
  readonly model: string;
  readonly apiModel?: string;
  readonly vision?: boolean;
}

/**
 * Models that see images, by the beginning of their names; for those of other names a preset says so (`vision: true`).
 * Providers that serve models of several makers put the maker's name and a slash before.
 */
const seeing = [
  /^gpt-(4o|4\.1|4\.5|4-turbo|[5-9])(?!.*(audio|realtime|transcribe|tts|search))/,
  /^chatgpt-4o/,
  /^o[134](?!-(mini|preview))(-|$)/,
  /^o4-mini/,
  /^claude-(3|opus|sonnet|haiku)/,
  /^gemini-(1\.5|[2-9])/,
  /^pixtral/,
  /^mistral-(small|medium)-(3\.[1-9]|latest|25(0[3-9]|1))/,
  /^llama-?(3\.2.*vision|4)/,
  /^(qwen|qwq|qvq).*-?vl/,
  /^gemma-?3(?!n|.*[:-](1b|270m))/,
  /^(llava|bakllava|minicpm-v|moondream|internvl|grok-4|glm-4.*v)/,
];

/** Models that count more tokens for an image than others do, and how many times as many: their price for one is lower. */
const costly = [{ name: /^gpt-4o-mini/, factor: 34 }];

/** Whether a model sees images: as its preset says, or as is known of its name. */
export function seesImages(settings: Named): boolean {
  return settings.vision ?? seeing.some((name) => name.test(plainName(settings)));
}

/** How many times the usual number of tokens a model counts for an image. */
export function imageFactor(settings: Partial<Named>): number {
  return costly.find(({ name }) => name.test(plainName(settings)))?.factor ?? 1;
}

/** A model's name without its maker. */
export function plainName({ apiModel, model = '' }: Partial<Named>): string {
  return (apiModel ?? model).toLowerCase().replace(/^.*\//, '');
}
