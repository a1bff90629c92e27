// As registered.mts, with the types of the CommonJS files.
import { defineFlags, openFlags } from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';
import { testFlags } from '@flags/core/testing';
import { flagsMiddleware } from '@flags/express';
import '@flags/express/request';

import express = require('express');

const schema = defineFlags({ packed: { variants: ['red', 'blue'] }, plain: {} });

declare module '@flags/core' {
  interface RegisteredFlags {
    schema: typeof schema;
  }
}

export const tested: 'red' | 'blue' | 'disabled' = testFlags({ packed: 'red' }, { schema }).getVariant('packed').name;

export async function serve() {
  const flags = await openFlags({ storage: sqliteStorage(':memory:'), schema });
  const app = express().use(flagsMiddleware(flags, ({ ip }) => ({ remoteAddress: ip })));
  return app.get('/', (request, response) => {
    const color: 'red' | 'blue' | 'disabled' = request.flags.getVariant('packed').name;
    // @ts-expect-error The schema does not have this flag.
    response.json([color, request.flags.isEnabled('unknown')]);
  });
}
