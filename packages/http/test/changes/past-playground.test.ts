import type { Flags } from '@flags/core';
import type { Express } from 'express';
import request from 'supertest';
import { createHostApp } from '../host-app.js';

const CHECKOUT = { project: 'default', flag: 'checkout' };
const PRODUCTION = { ...CHECKOUT, environment: 'production' };
const START = Date.parse('2026-01-01T00:00:00Z');

let app: Express;
let flags: Flags;
let minute = 0;

/** The time of the minute, ISO 8601. */
const at = (minutes: number) => new Date(START + minutes * 60_000).toISOString();

beforeEach(async () => {
  minute = 0;
  ({ app, flags } = await createHostApp({ flags: { now: () => new Date(at(minute)) } }));
});
afterEach(() => flags.close());

/** Asks what was decided at a time, about all flags unless one is named. */
async function explain(asOf: string, more: object = {}) {
  const body = { environment: 'production', context: { userId: '7' }, asOf, ...more };
  const answer = await request(app).post('/api/admin/playground').send(body).expect(200);
  return {
    next: answer.body.next,
    features: answer.body.features.map(({ name, reason }: { name: string; reason: string }) => [name, reason]),
  };
}

it('explains all flags by their state at that time, archived ones too', async () => {
  await flags.createFlag(CHECKOUT, { name: 'checkout' });
  await flags.addStrategy(PRODUCTION, { name: 'default' });
  minute = 1;
  await flags.enable(PRODUCTION);
  minute = 2;
  await flags.createFlag(CHECKOUT, { name: 'a-later-flag' });
  await flags.archiveFlag(CHECKOUT);
  expect(await explain(at(0))).toEqual({ features: [['checkout', 'disabled']] });
  expect(await explain(at(1))).toEqual({ features: [['checkout', 'strategy']] });
  expect(await explain(at(1), { flag: 'checkout' })).toEqual({ features: [['checkout', 'strategy']] });
  expect(await explain(at(1), { flag: 'a-later-flag' })).toEqual({ features: [] });
  expect(await explain(at(2))).toEqual({ features: [['a-later-flag', 'disabled']] });
});

it('ends a reply after 100 flags, and continues from there', async () => {
  const names = Array.from({ length: 101 }, (_, index) => `flag-${String(index).padStart(3, '0')}`);
  await flags.apply(names.map((name) => ({ op: 'createFlag', ref: { project: 'default' }, input: { name } })));
  const first = await explain(at(0));
  expect(first.features).toHaveLength(100);
  expect(first.next).toBe('flag-100');
  expect(await explain(at(0), { from: first.next })).toEqual({ features: [['flag-100', 'disabled']] });
});
