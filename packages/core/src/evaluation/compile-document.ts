import { FlagsError } from '../base/errors.js';
import { invalidInput } from '../base/invalid-input.js';
import { deepFreeze, isObject } from '../base/json.js';
import { describeUnknownOption } from '../base/option-names.js';
import { type ClientDocument, readClientDocument } from './client-document.js';
import type {
  ContextArgument,
  CustomStrategy,
  EvaluatedVariant,
  EvaluationOptions,
  FlagExplanation,
  TextEncoding,
  VariantOptions,
} from './evaluation.types.js';
import { hasPattern, loadPatterns } from './load-patterns.js';
import type { Patterns } from './patterns.types.js';
import type { EvaluationProblem } from './problem.js';
import { compileSnapshot } from './snapshot.js';

/** Options of `compile`. All are optional. */
export interface CompileOptions {
  /** The custom strategies of the application. Default: none; a strategy that is not built in never holds. */
  readonly strategies?: readonly CustomStrategy[];
  /** The host name for the strategy `applicationHostname`. Default: none; the strategy never holds. */
  readonly hostname?: string;
  /** How non-ASCII ids are hashed, as in the option of `openFlags`. Default: `utf8`. */
  readonly idEncoding?: TextEncoding;
  /** The time for `DATE_*` constraints if the context has none. Default: the clock of the runtime. */
  readonly now?: () => Date;
  /** Returns a number from 0 (inclusive) to 1 (exclusive), for choices by chance. Default: `Math.random`. */
  readonly random?: () => number;
  /** Called once for each problem with the document or an evaluation. Default: problems are ignored. */
  readonly onProblem?: (problem: EvaluationProblem) => void;
}

/** Options of `compileSync`. */
export interface CompileSyncOptions extends CompileOptions {
  /** The export `patterns` of `@flags/core/evaluate/patterns`. Needed for a document with a regular expression. */
  readonly patterns?: Patterns;
}

/**
 * The flags of one document, compiled. Its methods are synchronous, and do no I/O. They never throw because of a flag or a
 * context: a flag that cannot be evaluated is off.
 */
export interface CompiledDocument {
  /** Returns whether a flag is on for a context. */
  isEnabled<Given>(
    flag: string,
    context?: ContextArgument<Given>,
    options?: Pick<EvaluationOptions, 'fallback'>,
  ): boolean;
  /** Returns the variant of a flag for a context. */
  getVariant<Given>(
    flag: string,
    context?: ContextArgument<Given>,
    options?: Pick<VariantOptions, 'fallback'>,
  ): EvaluatedVariant;
  /** Explains why a flag is on or off for a context. */
  explain<Given>(flag: string, context?: ContextArgument<Given>): FlagExplanation;
}

/**
 * Compiles the reply of `GET /api/client/features`, of a server of ours or of Unleash. Loads RE2 first if the document has a
 * regular expression. A flag that cannot be read is off, and goes to `onProblem`. Later changes of the document have no
 * effect: compile the next reply.
 *
 * @param document the parsed JSON
 * @throws FlagsError `invalid_input` for a document without a list of features
 * @example
 * const response = await fetch('https://flags.internal/flags/api/client/features', { headers: { authorization: token } });
 * const flags = await compile(await response.json());
 * if (flags.isEnabled('checkout', { userId: '7' })) showNewCheckout();
 */
export async function compile(document: unknown, options: CompileOptions = {}): Promise<CompiledDocument> {
  assertOptions('compile', options, OPTIONS);
  const read = readDocument(document, options);
  return createEvaluation(read, options, hasPattern(read) ? await loadPatterns() : undefined);
}

/**
 * Like `compile`, at once. A document with a regular expression needs the option `patterns`.
 *
 * @param document the parsed JSON
 * @throws FlagsError `invalid_input` for a document without a list of features, and for one with a regular expression if
 * `patterns` is absent
 * @example
 * import { patterns } from '@flags/core/evaluate/patterns';
 *
 * const flags = compileSync(document, { patterns });
 */
export function compileSync(document: unknown, options: CompileSyncOptions = {}): CompiledDocument {
  assertOptions('compileSync', options, [...OPTIONS, 'patterns']);
  const { patterns } = options;
  if (patterns !== undefined && typeof patterns?.createTest !== 'function') {
    throw invalidInput([{ message: 'must be the export of @flags/core/evaluate/patterns', path: '/patterns' }]);
  }
  const read = readDocument(document, options);
  if (patterns === undefined && hasPattern(read)) {
    const message =
      'The document has a regular expression: pass { patterns } of @flags/core/evaluate/patterns, or await compile(…).';
    throw new FlagsError('invalid_input', message);
  }
  return createEvaluation(read, options, patterns);
}

const OPTION_NAMES: Readonly<Record<keyof CompileOptions, true>> = {
  strategies: true,
  hostname: true,
  idEncoding: true,
  now: true,
  random: true,
  onProblem: true,
};
const OPTIONS = Object.keys(OPTION_NAMES);

function assertOptions(name: string, options: unknown, known: readonly string[]): void {
  if (!isObject(options)) throw invalidInput([{ message: `the options of ${name} must be an object`, path: '' }]);
  const fault = describeUnknownOption(options, known);
  if (fault) throw invalidInput([{ message: `${name} ${fault}`, path: '' }]);
}

function readDocument(document: unknown, { onProblem = () => undefined }: CompileOptions): ClientDocument {
  if (!isObject(document)) {
    throw invalidInput([{ message: 'must be an object, the reply of /api/client/features', path: '' }]);
  }
  const { features, segments } = document;
  if (!Array.isArray(features)) throw invalidInput([{ message: 'must be a list', path: '/features' }]);
  if (!Array.isArray(segments ?? [])) throw invalidInput([{ message: 'must be a list', path: '/segments' }]);
  return readClientDocument(document, onProblem);
}

function createEvaluation(
  document: ClientDocument,
  { now, ...options }: CompileOptions,
  patterns: Patterns | undefined,
): CompiledDocument {
  const snapshot = compileSnapshot({
    ...options,
    ...document,
    now: now ? () => now().getTime() : Date.now,
    ...(patterns && { patterns: () => patterns }),
  });
  return Object.freeze<CompiledDocument>({
    isEnabled: (flag, context, given) => snapshot.isEnabled(flag, context, given?.fallback),
    getVariant: (flag, context, given) => snapshot.getVariant(flag, context, given?.fallback),
    explain: (flag, context) => deepFreeze(snapshot.explain(flag, context)),
  });
}
