import { describeObject } from '../../base/inputs.js';
import type { SharedEngine } from '../../kernel/changes/change-engine.js';
import type { OpenedFeature } from '../../kernel/feature.js';
import { describeKind } from '../../kernel/restorer.js';
import type { TokenParts } from './token.js';
import { tokenDocuments } from './token.kind.js';
import { tokenOperations } from './token.operations.js';
import { findTokenIssues, newToken, tokenChanges, tokenRotation } from './token.schema.js';
import { createTokenFinder, createTokenUseRecorder, verificationOperations } from './token-verification.operations.js';

/** The options of the host that tokens read. */
export interface TokenOptions {
  readonly maxTokenLifetime?: number;
  readonly usage: { readonly interval: number };
}

function open(
  engine: SharedEngine,
  { maxTokenLifetime, usage: { interval } }: TokenOptions,
): OpenedFeature<TokenParts> {
  const { storage, read, now, onError } = engine;
  const tokenUse = createTokenUseRecorder({ storage, now, interval, onError });
  const findToken = createTokenFinder({ storage, read });
  return { parts: { findToken, tokenUse, maxTokenLifetime }, close: tokenUse.close };
}

export const tokensFeature = {
  name: 'tokens',
  kinds: [describeKind(tokenDocuments)],
  inputs: {
    newToken: describeObject(newToken, findTokenIssues),
    tokenChanges: describeObject(tokenChanges),
    tokenRotation: describeObject(tokenRotation),
  },
  operations: { ...tokenOperations, ...verificationOperations },
  open,
} as const;
