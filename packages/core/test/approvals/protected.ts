import type { Flags } from '../../src/index.js';
import { CHECKOUT, DEFAULT, PRODUCTION } from '../references.js';

/** Changes of production need the approval of one person, or of two. */
export const POLICY = { environments: { production: { required: 1 } } };
export const TWO = { environments: { production: { required: 2 } } };

export const ENABLE = { op: 'enable', ref: PRODUCTION } as const;
export const LAUNCH = { reason: 'Launch' };
export const ADA = { name: 'Ada', id: 'u-1' };
export const GRACE = { name: 'Grace', id: 'u-2' };
export const ALAN = { name: 'Alan', id: 'u-3' };

export interface Proposed {
  readonly proposal: string;
}

/** A flag that is off in production, where changes need approval. */
export async function protect(flags: Flags<string>, policy: typeof POLICY): Promise<void> {
  await flags.createFlag(DEFAULT, { name: 'checkout' });
  await flags.addStrategy(PRODUCTION, { name: 'default' });
  await flags.setApprovalPolicy(policy);
}

/** Ada proposes to switch it on. */
export async function propose(flags: Flags<string>): Promise<Proposed> {
  const { id } = await flags.as(ADA).createProposal({ changes: [ENABLE] }, LAUNCH);
  return { proposal: id };
}

export async function isOn(flags: Flags<string>): Promise<boolean> {
  const { environments } = await flags.getFlag(CHECKOUT);
  return environments.some(({ name, enabled }) => name === 'production' && enabled);
}

export async function stateOf(flags: Flags<string>, ref: Proposed): Promise<string> {
  return (await flags.getProposal(ref)).state;
}
