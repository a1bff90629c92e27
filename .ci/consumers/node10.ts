import { defineFlags, type Flags, openFlags } from '@flags/core';
import { createValidator } from '@flags/core/integration/shared';
import { sqliteStorage } from '@flags/core/sqlite';
import { testFlags } from '@flags/core/testing';
import { createFlagsRouter } from '@flags/express';
import '@flags/express/request';
import { createFlagsApi } from '@flags/http';
import { createFlagsProvider } from '@flags/openfeature';
import { postgresStorage } from '@flags/postgres';
import express from 'express';

const schema = defineFlags({ packed: { variants: ['red', 'blue'] } });

export async function open(path: string): Promise<Flags> {
  const flags = await openFlags({ storage: sqliteStorage(path), schema });
  const color: 'red' | 'blue' | 'disabled' = flags.getVariant('packed').name;
  express().get('/', (request, response) => void response.json([color, request.flags.isEnabled('packed')]));
  return flags;
}

export const tested = testFlags({ packed: 'red' }, { schema }).getVariant('packed').name;
export { createFlagsApi, createFlagsProvider, createFlagsRouter, createValidator, postgresStorage };
