import type { ChangeRequest, Flags } from '../../src/index.js';
import type { Person } from '../../src/types.js';
import { CHECKOUT, DEFAULT, PRODUCTION } from '../references.js';

/** Changes of production need the approval of one person, or of two. */
export const POLICY = { environments: { production: { required: 1 } } };
export const TWO = { environments: { production: { required: 2 } } };

export const ENABLE = { op: 'enable', ref: PRODUCTION } as const;
export const DISABLE = { op: 'disable', ref: PRODUCTION } as const;
export const LAUNCH = { reason: 'Launch' };
export const ADA = { name: 'Ada', id: 'u-1' };
export const GRACE = { name: 'Grace', id: 'u-2' };
export const ALAN = { name: 'Alan', id: 'u-3' };

export interface Requested {
  readonly changeRequest: string;
}

/** A flag that is off in production, where changes need approval. */
export async function protect(flags: Flags<string>, policy: typeof POLICY): Promise<void> {
  await addCheckout(flags);
  await flags.approvalPolicy.set(policy);
}

/** A flag that is off in production. */
export async function addCheckout(flags: Flags<string>): Promise<void> {
  await flags.createFlag(DEFAULT, { name: 'checkout' });
  await flags.addStrategy(PRODUCTION, { name: 'default' });
}

/** Ada requests to switch it on. */
export async function request(flags: Flags<string>): Promise<Requested> {
  const { id } = await flags.as(ADA).changeRequests.create([ENABLE], LAUNCH);
  return { changeRequest: id };
}

/** Approves what the request would do now. */
export async function approve(
  flags: Flags<string>,
  ref: Requested,
  by: string | Person = GRACE,
  context: { readonly reason?: string } = {},
): Promise<ChangeRequest> {
  const { effect } = await flags.changeRequests.get(ref);
  return flags.as(by).changeRequests.approve(ref, { effect: `${effect}` }, context);
}

export async function isOn(flags: Flags<string>): Promise<boolean> {
  const { environments } = await flags.getFlag(CHECKOUT);
  return environments.some(({ name, enabled }) => name === 'production' && enabled);
}

export async function stateOf(flags: Flags<string>, ref: Requested): Promise<string> {
  return (await flags.changeRequests.get(ref)).state;
}
