// One registered schema reaches `request.flags` and `testFlags`: the entries share their types.
import { defineFlags, type FlagsStorage, openFlags } from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';
import { testFlags } from '@flags/core/testing';
import { flagsMiddleware } from '@flags/express';
import '@flags/express/request';
import express from 'express';

const schema = defineFlags({ packed: { variants: ['red', 'blue'] }, plain: {} });

declare module '@flags/core' {
  interface RegisteredFlags {
    schema: typeof schema;
  }
}

export const storage: FlagsStorage | Promise<FlagsStorage> = sqliteStorage(':memory:');
export const flags = await openFlags({ storage, schema });
export const tested: 'red' | 'blue' | 'disabled' = testFlags({ packed: 'red' }, { schema }).getVariant('packed').name;
const app = express().use(flagsMiddleware(flags, ({ ip }) => ({ remoteAddress: ip })));
app.get('/', (request, response) => {
  const color: 'red' | 'blue' | 'disabled' = request.flags.getVariant('packed').name;
  // @ts-expect-error The schema does not have this flag.
  response.json([color, request.flags.isEnabled('unknown')]);
});
