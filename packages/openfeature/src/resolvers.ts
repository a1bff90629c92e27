import type { Flags } from '@flags/core';
import { payloadReaderOf, type ResolvedVariant, resolveSwitch, resolveVariant } from '@flags/core/integration';
import type { EvaluationContext, JsonValue, Provider } from '@openfeature/server-sdk';
import { type PayloadRequest, payloadDetails, switchDetails } from './details.js';

type Resolvers = Pick<
  Provider,
  'resolveBooleanEvaluation' | 'resolveStringEvaluation' | 'resolveNumberEvaluation' | 'resolveObjectEvaluation'
>;

/** The resolvers of a provider, for one environment. */
export function createResolvers(flags: Flags, environment: string): Resolvers {
  const payloads = payloadReaderOf(flags);

  function resolvePayload<T>(request: Omit<PayloadRequest<T>, 'read'>, context: EvaluationContext) {
    const read = (variant: ResolvedVariant) => payloads.read(request.flag, variant);
    return payloadDetails({ ...request, read }, resolveVariant(flags, request.flag, { context, environment }));
  }

  return {
    async resolveBooleanEvaluation(flag, defaultValue, context) {
      return switchDetails({ flag, defaultValue }, resolveSwitch(flags, flag, { context, environment }));
    },

    async resolveStringEvaluation(flag, defaultValue, context) {
      return resolvePayload({ flag, defaultValue, type: 'string' }, context);
    },

    async resolveNumberEvaluation(flag, defaultValue, context) {
      return resolvePayload({ flag, defaultValue, type: 'number' }, context);
    },

    async resolveObjectEvaluation<T extends JsonValue>(flag: string, defaultValue: T, context: EvaluationContext) {
      return resolvePayload<T>({ flag, defaultValue, type: 'object' }, context);
    },
  };
}
