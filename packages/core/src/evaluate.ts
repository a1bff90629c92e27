/*
 * Evaluation without an engine, for every JavaScript runtime. Nothing here needs Node, and RE2 is loaded only for a document
 * with a regular expression.
 */

export { type ErrorCode, type ErrorDetail, FlagsError, isFlagsError } from './base/errors.js';
export {
  type CompiledDocument,
  type CompileOptions,
  type CompileSyncOptions,
  compile,
  compileSync,
} from './evaluation/compile-document.js';
export type {
  CustomStrategy,
  EvaluatedVariant,
  EvaluationContext,
  FlagExplanation,
} from './evaluation/evaluation.types.js';
export type { Patterns } from './evaluation/patterns.types.js';
export type { EvaluationProblem } from './evaluation/problem.js';
