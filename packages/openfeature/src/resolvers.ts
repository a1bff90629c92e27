import type { Flags } from '@flags/core';
import { resolveSwitch, resolveVariant } from '@flags/core/integration';
import type { EvaluationContext, JsonValue, Provider } from '@openfeature/server-sdk';
import { type PayloadQuestion, payloadDetails, switchDetails } from './details.js';

type Resolvers = Pick<
  Provider,
  'resolveBooleanEvaluation' | 'resolveStringEvaluation' | 'resolveNumberEvaluation' | 'resolveObjectEvaluation'
>;

/** What a provider answers with, in one environment. */
export function createResolvers(flags: Flags, environment: string): Resolvers {
  function ask<T>(question: PayloadQuestion<T>, context: EvaluationContext) {
    return payloadDetails(question, resolveVariant(flags, question.flag, { context, environment }));
  }

  return {
    async resolveBooleanEvaluation(flag, defaultValue, context) {
      return switchDetails({ flag, defaultValue }, resolveSwitch(flags, flag, { context, environment }));
    },

    async resolveStringEvaluation(flag, defaultValue, context) {
      return ask({ flag, defaultValue, type: 'string' }, context);
    },

    async resolveNumberEvaluation(flag, defaultValue, context) {
      return ask({ flag, defaultValue, type: 'number' }, context);
    },

    async resolveObjectEvaluation<T extends JsonValue>(flag: string, defaultValue: T, context: EvaluationContext) {
      return ask<T>({ flag, defaultValue, type: 'object' }, context);
    },
  };
}
