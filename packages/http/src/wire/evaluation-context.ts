import type { EvaluationContext } from '@flags/core';
import type { JsonSchema } from '@flags/core/integration';

/** A context in wire form, where null equals absent. */
export interface WireContext {
  readonly userId?: string | number | null;
  readonly sessionId?: string | number | null;
  readonly remoteAddress?: string | null;
  readonly environment?: string | null;
  readonly appName?: string | null;
  readonly currentTime?: string | null;
  readonly properties?: Readonly<Record<string, unknown>> | null;
}

const id: JsonSchema = { type: ['string', 'number', 'null'] };
const text: JsonSchema = { type: ['string', 'null'] };

export const contextSchema: JsonSchema = {
  type: 'object',
  properties: {
    userId: id,
    sessionId: id,
    remoteAddress: text,
    environment: { ...text, description: 'What constraints on `environment` compare; it chooses nothing.' },
    appName: text,
    currentTime: { ...text, description: 'ISO 8601; now when absent.' },
    properties: {
      type: ['object', 'null'],
      additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
    },
  },
};

export interface WireFrontendBody {
  readonly context?: WireContext | null;
}

export const frontendBodySchema: JsonSchema = {
  type: 'object',
  properties: { context: { ...contextSchema, type: ['object', 'null'] } },
};

/** Converts a context. `clientIp` is the address when the context has none. */
export function contextFromWire(context: WireContext, clientIp?: string): EvaluationContext {
  const { userId, sessionId, remoteAddress, environment, appName, currentTime, properties } = context;
  return {
    userId: userId ?? undefined,
    sessionId: sessionId ?? undefined,
    remoteAddress: remoteAddress ?? clientIp,
    environment: environment ?? undefined,
    appName: appName ?? undefined,
    currentTime: currentTime ?? undefined,
    properties: properties ?? undefined,
  };
}
