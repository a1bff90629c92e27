import {
  createToken,
  deleteToken,
  evolveToken,
  isSharedWith,
  type TokenState,
  withoutHash,
} from '../../src/tokens/token.js';
import { isCurrent, toToken } from '../../src/tokens/token-verification.operations.js';
import { refusalOf } from './refusal.js';

const TOKEN: TokenState = {
  id: 'id',
  name: 'web',
  kind: 'client',
  project: '*',
  environment: 'production',
  createdAt: '2026-01-01T00:00:00.000Z',
  expiresAt: null,
  hash: 'hash',
};

const NOTHING = { existing: undefined, wasDeleted: false, others: [] };

describe('a token', () => {
  it('is created once', () => {
    expect(createToken(NOTHING, TOKEN).reduce(evolveToken, undefined)).toEqual(TOKEN);
    const refusal = refusalOf(() => createToken({ ...NOTHING, existing: TOKEN }, TOKEN));
    expect(refusal.code).toBe('token_exists');
    expect(refusal.message).not.toContain('hash');
  });

  it('has a name of its own among the tokens of its kind', () => {
    const admin = { ...TOKEN, kind: 'admin' } as const;
    expect(createToken({ ...NOTHING, others: [admin, { ...TOKEN, name: 'Web' }] }, TOKEN)).toHaveLength(1);
    expect(refusalOf(() => createToken({ ...NOTHING, others: [TOKEN] }, TOKEN)).code).toBe('token_exists');
  });

  it('cannot reuse the secret of a deleted token', () => {
    expect(refusalOf(() => createToken({ ...NOTHING, wasDeleted: true }, TOKEN)).code).toBe('token_deleted');
  });

  it('names its projects, one or several', () => {
    expect(toToken(TOKEN).projects).toEqual(['*']);
    const several = { ...TOKEN, project: 'a', projects: ['a', 'b'] };
    expect(toToken(several).projects).toEqual(['a', 'b']);
    expect([isSharedWith(several, 'b'), isSharedWith({ ...TOKEN, project: 'b' }, 'b')]).toEqual([true, false]);
  });

  it('is gone when it is deleted', () => {
    expect(deleteToken(TOKEN)).toEqual([{ type: 'token-deleted', data: null, before: TOKEN }]);
    expect(deleteToken(TOKEN).reduce(evolveToken, TOKEN as TokenState | undefined)).toBeUndefined();
  });

  it('is accepted until the moment of its expiry, and for ever without one', () => {
    const token = { ...TOKEN, expiresAt: '2026-06-01T12:00:00.000Z' };
    expect(isCurrent(token, new Date('2026-06-01T11:59:59.999Z'))).toBe(true);
    expect(isCurrent(token, new Date('2026-06-01T12:00:00.000Z'))).toBe(false);
    expect(isCurrent(TOKEN, new Date('9999-01-01T00:00:00.000Z'))).toBe(true);
  });

  it('is shown without its hash', () => {
    const { hash: _hash, ...shown } = TOKEN;
    expect(withoutHash(TOKEN)).toEqual(shown);
  });
});
