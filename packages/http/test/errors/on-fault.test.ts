import { FlagsError, memoryStorage } from '@flags/core';
import { faultyStorage } from '@flags/core/testing';
import request from 'supertest';
import { EXPRESS_VERSIONS } from '../express-versions.js';
import { createHostApp, FLAGS } from '../host-app.js';

describe.each(EXPRESS_VERSIONS)('onError, upon Express $major', (version) => {
  const full = new FlagsError('storage_unavailable', 'The disk is full.', undefined, { cause: new Error('ENOSPC') });

  async function hostWith(onError: (error: FlagsError, request: { readonly originalUrl: string }) => void) {
    const storage = faultyStorage(memoryStorage());
    const host = await createHostApp({ version, flags: { storage }, router: { auth: 'none', onError: onError } });
    storage.inject({ method: 'commit', error: full });
    return host;
  }

  it('receives errors with status 503, with their cause and request', async () => {
    const told: unknown[] = [];
    const { app, faults } = await hostWith((error, { originalUrl }) => told.push([error, originalUrl]));
    await request(app).post(FLAGS).send({ name: 'checkout' }).expect(503);
    expect(told).toEqual([[full, FLAGS]]);
    expect(faults).toEqual([]);
  });

  it('does not receive client errors', async () => {
    const told: unknown[] = [];
    const { app } = await hostWith((error) => told.push(error));
    await request(app).get(`${FLAGS}/nothing`).expect(404);
    await request(app).post(FLAGS).send({ name: '' }).expect(400);
    expect(told).toEqual([]);
  });

  it("gives what it throws to the host's error handler", async () => {
    const bug = new Error('The logger is broken.');
    const { app, faults } = await hostWith(() => {
      throw bug;
    });
    await request(app).post(FLAGS).send({ name: 'checkout' }).expect(500);
    expect(faults).toEqual([bug]);
  });
});
